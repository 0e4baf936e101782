// SPDX-License-Identifier: Apache-2.0
/// Who am I among the ranks: read from the environment that a launcher left.
///
///   Result<RankIdentity> who = identify(current_environment());
///   if (!who->launched()) ... // nobody started us: start the ranks ourselves (spawn.h)
///
/// The first of these that is there decides: BRIGADE_RANK and BRIGADE_WORLD_SIZE (explicit), RANK
/// and WORLD_SIZE (torchrun, and our own launcher), OMPI_COMM_WORLD_RANK and _SIZE (mpirun),
/// SLURM_PROCID and SLURM_STEP_NUM_TASKS or SLURM_NTASKS (srun), JOB_COMPLETION_INDEX and
/// WORLD_SIZE (indexed Kubernetes job). With more than one rank all need MASTER_ADDR and
/// MASTER_PORT.
#pragma once

#include <map>
#include <string>

#include "parallel/base/result.h"

namespace brigade::launch {

enum class LaunchSource { kNone, kExplicit, kTorchrun, kOpenMpi, kSlurm, kKubernetes };

struct RankIdentity {
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;  ///< among the ranks of this host; `rank` when the launcher does not say
  std::string master_address = "127.0.0.1";  ///< of rank 0
  int master_port = 0;                       ///< that rank 0 listens on; 0: none needed (one rank)
  LaunchSource source = LaunchSource::kNone;
  std::string told_by;  ///< the variables that decided, for the start block

  bool launched() const { return source != LaunchSource::kNone; }
  bool operator==(const RankIdentity&) const = default;
};

using Environment = std::map<std::string, std::string>;

/// This process's environment.
Environment current_environment();

/// Errors: kUsage for variables that are half set (the text names the missing ones), that are no
/// numbers, or that contradict one another.
///
/// Where torchrun's agent listens on MASTER_PORT itself (TORCHELASTIC_USE_AGENT_STORE), the next
/// port is taken; BRIGADE_MASTER_PORT overrides it.
Result<RankIdentity> identify(const Environment& environment);

}  // namespace brigade::launch
