// SPDX-License-Identifier: Apache-2.0
#include "trainer/launch/rank_identity.h"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "parallel/base/text.h"
#include "trainer/launch/failure_report.h"

namespace brigade::launch {
namespace {

/// The variables of one launcher. Of `size` the first that is set counts.
struct Dialect {
  LaunchSource source;
  const char* launcher;
  const char* rank;
  std::vector<const char*> size;
  const char* local_rank;
  bool size_alone_counts;  ///< a set size without a rank is half of something
};

const std::vector<Dialect>& dialects() {
  static const std::vector<Dialect> all = {
      {LaunchSource::kExplicit,
       "set by hand",
       "BRIGADE_RANK",
       {"BRIGADE_WORLD_SIZE"},
       "BRIGADE_LOCAL_RANK",
       true},
      {LaunchSource::kTorchrun, "torchrun", "RANK", {"WORLD_SIZE"}, "LOCAL_RANK", true},
      {LaunchSource::kOpenMpi,
       "Open MPI",
       "OMPI_COMM_WORLD_RANK",
       {"OMPI_COMM_WORLD_SIZE"},
       "OMPI_COMM_WORLD_LOCAL_RANK",
       true},
      // A batch script without srun has a task count, but is no task.
      {LaunchSource::kSlurm,
       "Slurm",
       "SLURM_PROCID",
       {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
       "SLURM_LOCALID",
       false},
      {LaunchSource::kKubernetes,
       "an indexed Kubernetes job",
       "JOB_COMPLETION_INDEX",
       {"WORLD_SIZE"},
       "LOCAL_RANK",
       false},
  };
  return all;
}

class Identifier {
 public:
  explicit Identifier(const Environment& environment) : environment_(environment) {}

  Result<RankIdentity> run() const {
    std::optional<std::string> half_set;
    for (const Dialect& dialect : dialects()) {
      const char* size = first_set(dialect.size);
      const bool rank = get(dialect.rank) != nullptr;
      if (rank && size != nullptr) {
        return identity(dialect, size);
      }
      const std::string missing = concat(rank ? dialect.size.front() : dialect.rank,
                                         " is missing: ",
                                         rank ? dialect.rank : dialect.size.front(),
                                         " is set (",
                                         dialect.launcher,
                                         "), and both are needed");
      if (rank) {
        return fail(ErrorCode::kUsage, missing);
      }
      if (size != nullptr && dialect.size_alone_counts && !half_set) {
        half_set = missing;
      }
    }
    return half_set ? Result<RankIdentity>(fail(ErrorCode::kUsage, *half_set)) : RankIdentity();
  }

 private:
  const std::string* get(const char* name) const {
    const auto found = environment_.find(name);
    return found == environment_.end() || found->second.empty() ? nullptr : &found->second;
  }

  const char* first_set(const std::vector<const char*>& names) const {
    for (const char* name : names) {
      if (get(name) != nullptr) {
        return name;
      }
    }
    return nullptr;
  }

  Result<int> number(const char* name, int least, int most) const {
    const std::string& text = *get(name);
    int value = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end.ec != std::errc() || end.ptr != text.data() + text.size() || value < least ||
        value > most) {
      return fail(
          ErrorCode::kUsage,
          concat(name, " must be an integer from ", least, " to ", most, ", found \"", text, '"'));
    }
    return value;
  }

  Result<RankIdentity> identity(const Dialect& dialect, const char* size_name) const {
    constexpr int kMostRanks = 1 << 20;
    RankIdentity who;
    const Result<int> size = number(size_name, 1, kMostRanks);
    if (!size) {
      return fail(size.error());
    }
    const Result<int> rank = number(dialect.rank, 0, *size - 1);
    if (!rank) {
      return fail(ErrorCode::kUsage,
                  concat(rank.error().text, " (", size_name, " is ", *size, ')'));
    }
    who.source = dialect.source;
    who.rank = *rank;
    who.world_size = *size;
    who.local_rank = *rank;
    const bool ours = dialect.source == LaunchSource::kTorchrun && get(kReportVariable) != nullptr;
    who.told_by = concat(dialect.rank,
                         " and ",
                         size_name,
                         " (",
                         ours ? "brigade's own launcher" : dialect.launcher,
                         ')');
    if (get(dialect.local_rank) != nullptr) {
      const Result<int> local = number(dialect.local_rank, 0, *size - 1);
      if (!local) {
        return fail(local.error());
      }
      who.local_rank = *local;
    }
    return *size == 1 ? who : with_master(who);
  }

  Result<RankIdentity> with_master(RankIdentity who) const {
    const char* address = first_set({"BRIGADE_MASTER_ADDR", "MASTER_ADDR"});
    const char* port = first_set({"BRIGADE_MASTER_PORT", "MASTER_PORT"});
    if (address == nullptr || port == nullptr) {
      std::vector<std::string> missing;
      if (address == nullptr) {
        missing.emplace_back("MASTER_ADDR");
      }
      if (port == nullptr) {
        missing.emplace_back("MASTER_PORT");
      }
      return fail(ErrorCode::kUsage,
                  concat(join(missing, " and "),
                         missing.size() == 1 ? " is" : " are",
                         " missing: ",
                         who.told_by,
                         " make this rank ",
                         who.rank,
                         " of ",
                         who.world_size,
                         ", and all ranks must know where rank 0 listens"));
    }
    const bool agent_listens = get("TORCHELASTIC_USE_AGENT_STORE") != nullptr &&
                               *get("TORCHELASTIC_USE_AGENT_STORE") == "True" &&
                               std::string_view(port) == "MASTER_PORT";
    const Result<int> number_of_port = number(port, 1, agent_listens ? 65534 : 65535);
    if (!number_of_port) {
      return fail(number_of_port.error());
    }
    who.master_address = *get(address);
    who.master_port = agent_listens ? *number_of_port + 1 : *number_of_port;
    return who;
  }

  const Environment& environment_;
};

}  // namespace

Environment current_environment() {
  Environment all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos) {
      all.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return all;
}

Result<RankIdentity> identify(const Environment& environment) {
  return Identifier(environment).run();
}

}  // namespace brigade::launch
