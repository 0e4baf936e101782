// SPDX-License-Identifier: Apache-2.0
/// What follows from a RunConfig once the number of ranks is known: mesh, batch equation, stage.
///
///   Result<RunFacts> facts = resolve(config, 8);
///   facts->batch_equation;   // "global 16 = microbatch 2 x m 4 x data ranks 2 (dp_replicate 1 x
///                            // dp_shard 2)"
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/mesh/mesh.h"
#include "trainer/config/run_config.h"

namespace brigade::config {

struct RunFacts {
  int64_t world_size = 1;
  int64_t pp = 1;
  int64_t dp_replicate = 1;
  int64_t dp_shard = 1;
  int64_t tp = 1;
  /// pp, dp_replicate, dp_shard, tp: slowest first, axes of size 1 included.
  std::vector<mesh::Axis> axes;
  int64_t data_ranks = 1;  ///< dp_replicate x dp_shard
  int64_t zero_stage = 0;
  bool reduces_each_microbatch = false;  ///< else once a step
  int64_t recompute_every = 0;  ///< every n-th block computes its forward again whole; 0: none does
  int64_t microbatch_size = 1;  ///< sequences of one forward
  int64_t microbatches = 1;     ///< m: of one data rank in one step
  int64_t global_batch = 1;     ///< sequences of one step, all data ranks
  int64_t tokens_per_step = 1;  ///< global_batch x seq_len
  std::string batch_equation;
  std::vector<std::string> notes;  ///< facts worth a printed line: a clamped warm-up, for example

  bool operator==(const RunFacts&) const = default;
};

/// How many ranks to start where no launcher says: the product of the degrees, or launch.ranks when
/// data_parallel_shard_degree is -1.
int64_t wanted_ranks(const RunConfig& config);

/// Errors: kUsage listing everything that cannot be: a mesh whose product is not `world_size`, a
/// batch that does not divide, heads over tp, layers below pp, a mode that lacks a key. Each names
/// the nearest values that work.
Result<RunFacts> resolve(const RunConfig& config, int64_t world_size);

}  // namespace brigade::config
