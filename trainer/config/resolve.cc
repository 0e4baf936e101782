// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/resolve.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <numeric>

#include "parallel/base/text.h"

namespace brigade::config {
namespace {

bool power_of_two(int64_t value) {
  return value > 0 && std::has_single_bit(static_cast<uint64_t>(value));
}

std::string numbers(const std::vector<int64_t>& values) {
  return join(values);
}

std::vector<int64_t> divisors(int64_t value, int64_t at_most) {
  std::vector<int64_t> out;
  for (int64_t d = 1; d <= std::min(value, at_most); ++d) {
    if (value % d == 0) {
      out.push_back(d);
    }
  }
  return out;
}

/// The nearest below and above `wanted` (one number where they meet or none is below).
std::vector<int64_t> neighbours(const std::vector<int64_t>& sorted, int64_t wanted) {
  std::vector<int64_t> out;
  const auto above = std::lower_bound(sorted.begin(), sorted.end(), wanted);
  if (above != sorted.begin()) {
    out.push_back(*std::prev(above));
  }
  if (above != sorted.end()) {
    out.push_back(*above);
  }
  return out;
}

class Resolver {
 public:
  Resolver(const RunConfig& config, int64_t world_size) : config_(config) {
    facts_.world_size = world_size;
  }

  Result<RunFacts> run() {
    mesh();
    model();
    if (mesh_holds_) {
      batch();
      deterministic();
    }
    stage();
    recompute();
    notes();
    if (problems_.empty()) {
      return facts_;
    }
    return fail(ErrorCode::kUsage, join(problems_, "\n"));
  }

 private:
  template <class... T>
  void problem(const T&... parts) {
    problems_.push_back(concat(parts...));
  }

  void mesh() {
    const Parallelism& p = config_.parallelism;
    facts_.pp = p.pipeline_parallel_degree;
    facts_.dp_replicate = p.data_parallel_replicate_degree;
    facts_.tp = p.tensor_parallel_degree;
    const int64_t rest = facts_.pp * facts_.dp_replicate * facts_.tp;
    const int64_t world = facts_.world_size;
    if (p.data_parallel_shard_degree == -1) {
      mesh_holds_ = world % rest == 0;
      facts_.dp_shard = mesh_holds_ ? world / rest : 1;
      if (!mesh_holds_) {
        problem("mesh: data_parallel_shard_degree = -1 takes the ranks that are left, but pp ",
                facts_.pp,
                " x dp_replicate ",
                facts_.dp_replicate,
                " x tp ",
                facts_.tp,
                " = ",
                rest,
                " does not divide the world of ",
                world,
                " ranks; nearest worlds: ",
                numbers(multiples_near(world, rest)));
      }
    } else {
      facts_.dp_shard = p.data_parallel_shard_degree;
      mesh_holds_ = rest * facts_.dp_shard == world;
      if (!mesh_holds_) {
        problem("mesh: pp ",
                facts_.pp,
                " x dp_replicate ",
                facts_.dp_replicate,
                " x dp_shard ",
                facts_.dp_shard,
                " x tp ",
                facts_.tp,
                " = ",
                rest * facts_.dp_shard,
                " ranks, but the world has ",
                world,
                "; ",
                mesh_remedy(world, rest));
      }
    }
    facts_.axes = {{"pp", facts_.pp},
                   {"dp_replicate", facts_.dp_replicate},
                   {"dp_shard", facts_.dp_shard},
                   {"tp", facts_.tp}};
    facts_.data_ranks = facts_.dp_replicate * facts_.dp_shard;
  }

  std::string mesh_remedy(int64_t world, int64_t rest) const {
    const std::string start = concat("start ", rest * facts_.dp_shard, " ranks");
    return world % rest == 0
               ? concat("set parallelism.data_parallel_shard_degree=", world / rest, " or ", start)
               : start;
  }

  static std::vector<int64_t> multiples_near(int64_t wanted, int64_t unit) {
    const int64_t below = wanted / unit * unit;
    return below > 0 ? std::vector<int64_t>{below, below + unit} : std::vector<int64_t>{unit};
  }

  void model() {
    const Model& m = config_.model;
    const int64_t common = std::gcd(m.n_heads, m.n_kv_heads);
    const std::string may_be = concat("tp may be ", numbers(divisors(common, common)));
    if (m.n_heads % facts_.tp != 0) {
      problem(m.n_heads, " query heads cannot be split over tp=", facts_.tp, "; ", may_be);
    } else if (m.n_kv_heads % facts_.tp != 0) {
      problem(
          m.n_kv_heads, " key and value heads cannot be split over tp=", facts_.tp, "; ", may_be);
    }
    if (m.n_layers < facts_.pp) {
      problem(m.n_layers,
              " layers cannot fill pp=",
              facts_.pp,
              " stages; pipeline_parallel_degree may be at most ",
              m.n_layers);
    }
  }

  void batch() {
    const Training& t = config_.training;
    facts_.global_batch =
        t.global_batch_size == -1 ? t.local_batch_size * facts_.data_ranks : t.global_batch_size;
    facts_.microbatch_size = t.microbatch_size.value_or(
        facts_.pp > 1 ? config_.parallelism.pipeline_parallel_microbatch_size : t.local_batch_size);
    const int64_t unit = facts_.data_ranks * facts_.microbatch_size;
    facts_.microbatches = facts_.global_batch / unit;
    facts_.tokens_per_step = facts_.global_batch * t.seq_len;
    if (facts_.global_batch % unit == 0) {
      facts_.batch_equation = equation(concat(facts_.microbatches));
      return;
    }
    const double m = static_cast<double>(facts_.global_batch) / static_cast<double>(unit);
    problem("batch: ",
            equation(concat(m)),
            ", but m must be a whole number of at least 1; ",
            batch_remedies(unit));
  }

  std::string equation(const std::string& m) const {
    return concat("global ",
                  facts_.global_batch,
                  " = microbatch ",
                  facts_.microbatch_size,
                  " x m ",
                  m,
                  " x data ranks ",
                  facts_.data_ranks,
                  " (dp_replicate ",
                  facts_.dp_replicate,
                  " x dp_shard ",
                  facts_.dp_shard,
                  ')');
  }

  std::string batch_remedies(int64_t unit) const {
    const bool from_local = config_.training.global_batch_size == -1;
    std::string text = concat("nearest values: training.global_batch_size=",
                              join(multiples_near(facts_.global_batch, unit), " or "));
    if (facts_.global_batch % facts_.data_ranks == 0) {
      const int64_t each = facts_.global_batch / facts_.data_ranks;
      text += concat(", or training.microbatch_size=",
                     join(neighbours(divisors(each, each), facts_.microbatch_size), " or "));
    }
    return from_local ? concat(text,
                               " (global comes from local_batch_size ",
                               config_.training.local_batch_size,
                               " x data ranks)")
                      : text;
  }

  void deterministic() {
    if (!config_.debug.deterministic) {
      return;
    }
    if (!config_.training.microbatch_size) {
      problem(
          "debug.deterministic needs training.microbatch_size: the microbatch is what keeps its "
          "shape on every layout; set training.microbatch_size=",
          facts_.microbatch_size,
          " to keep this one's");
    }
    if (facts_.data_ranks > 1 && facts_.microbatches > 0 && !power_of_two(facts_.microbatches)) {
      problem(
          "debug.deterministic needs a power of two of microbatches per data rank, so that the "
          "tree of sums over ranks continues the one over microbatches; found m ",
          facts_.microbatches,
          " in ",
          equation(concat(facts_.microbatches)));
    }
    if (facts_.dp_replicate > 1 && !power_of_two(facts_.dp_shard)) {
      problem(
          "debug.deterministic needs data_parallel_shard_degree to be a power of two beside "
          "data_parallel_replicate_degree ",
          facts_.dp_replicate,
          "; found ",
          facts_.dp_shard);
    }
  }

  void stage() {
    const Parallelism& p = config_.parallelism;
    const int64_t by_default = facts_.dp_shard > 1 ? 1 : 0;
    facts_.zero_stage = p.zero_stage.value_or(by_default);
    const bool keeps_shards = facts_.zero_stage >= 2;
    facts_.reduces_each_microbatch = p.reduce_gradients
                                         ? *p.reduce_gradients == "microbatch"
                                         : keeps_shards && !config_.debug.deterministic;
    if (!facts_.reduces_each_microbatch) {
      return;
    }
    if (!keeps_shards) {
      problem(
          "parallelism.reduce_gradients = \"microbatch\" is for gradients that are kept as shards, "
          "but zero_stage is ",
          facts_.zero_stage,
          "; set parallelism.zero_stage=2 or parallelism.reduce_gradients=step");
    }
    if (config_.debug.deterministic) {
      problem(
          "debug.deterministic needs parallelism.reduce_gradients=step: sums over ranks must be "
          "the "
          "upper part of the tree over microbatches; found \"microbatch\"");
    }
  }

  void recompute() {
    const ActivationCheckpoint& recompute = config_.activation_checkpoint;
    if (recompute.mode == "full") {
      facts_.recompute_every = 1;
    }
    const std::string& option = recompute.selective_ac_option;
    if (recompute.mode != "selective" || option == "op") {
      return;
    }
    const auto [end, error] =
        std::from_chars(option.data(), option.data() + option.size(), facts_.recompute_every);
    if (error != std::errc() || end != option.data() + option.size() ||
        facts_.recompute_every < 1) {
      problem(
          "activation_checkpoint.selective_ac_option must be \"op\" or a number of blocks of at "
          "least 1, found \"",
          option,
          '"');
      facts_.recompute_every = 0;
    }
  }

  void notes() {
    if (config_.validation.enable) {
      note("validation runs in the training's batches: ",
           facts_.global_batch,
           " sequences of ",
           config_.training.seq_len,
           " tokens, whatever validation.local_batch_size and validation.seq_len say");
    }
    if (config_.parallelism.sequence_parallel && facts_.tp == 1) {
      note("sequence_parallel changes nothing: there is one tensor rank");
    }
    if (facts_.pp > 1 && facts_.microbatches < facts_.pp) {
      note("m ", facts_.microbatches, " is below pp ", facts_.pp, ": some stages are always idle");
    }
    const bool free_degree = config_.parallelism.data_parallel_shard_degree == -1;
    if (!free_degree && config_.launch.ranks > 1 && config_.launch.ranks != facts_.world_size) {
      note("launch.ranks ",
           config_.launch.ranks,
           " is not used: the degrees are all given and make ",
           facts_.world_size,
           " ranks");
    }
  }

  template <class... T>
  void note(const T&... parts) {
    facts_.notes.push_back(concat(parts...));
  }

  const RunConfig& config_;
  RunFacts facts_;
  bool mesh_holds_ = false;
  std::vector<std::string> problems_;
};

}  // namespace

int64_t wanted_ranks(const RunConfig& config) {
  const Parallelism& p = config.parallelism;
  if (p.data_parallel_shard_degree == -1) {
    return config.launch.ranks;
  }
  return p.pipeline_parallel_degree * p.data_parallel_replicate_degree *
         p.data_parallel_shard_degree * p.tensor_parallel_degree;
}

Result<RunFacts> resolve(const RunConfig& config, int64_t world_size) {
  return Resolver(config, world_size).run();
}

}  // namespace brigade::config
