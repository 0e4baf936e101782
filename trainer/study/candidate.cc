// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/candidate.h"

#include <algorithm>

#include "parallel/base/text.h"
#include "parallel/mesh/mesh.h"
#include "trainer/config/load.h"
#include "trainer/study/study_checks.h"

namespace brigade::study {
namespace {

template <class T>
std::vector<std::optional<T>> or_base(const std::vector<T>& values, bool matters) {
  if (values.empty() || !matters) {
    return {std::nullopt};
  }
  return {values.begin(), values.end()};
}

/// Several lines of a message as one.
std::string one_line(const std::string& text) {
  std::string out;
  bool space = false;
  for (const char c : text) {
    if (c == '\n' || c == ' ') {
      space = !out.empty();
      continue;
    }
    out += space ? " " : "";
    out += c;
    space = false;
  }
  return out;
}

int64_t batch_of(const Candidate& candidate, const Study& study, const config::RunConfig& base) {
  const int64_t fixed = base.training.global_batch_size;
  const int64_t one_rank = fixed == -1 ? base.training.local_batch_size : fixed;
  if (study.scaling != scaling::Scaling::kWeak) {
    return one_rank;
  }
  const int64_t each = study.batch_per_data_rank > 0 ? study.batch_per_data_rank : one_rank;
  return each * candidate.mesh.degrees.data_ranks();
}

std::vector<std::string> settings_of(const Candidate& candidate,
                                     const Study& study,
                                     const config::RunConfig& base) {
  std::vector<std::string> out = study.settings;
  const auto set = [&out](const char* key, const auto& value) {
    out.push_back(concat(key, '=', value));
  };
  const Degrees& degrees = candidate.mesh.degrees;
  set("parallelism.pipeline_parallel_degree", degrees.pp);
  set("parallelism.data_parallel_replicate_degree", degrees.dp_replicate);
  set("parallelism.data_parallel_shard_degree", degrees.dp_shard);
  set("parallelism.tensor_parallel_degree", degrees.tp);
  set("launch.threads_per_rank", candidate.threads);
  set("training.steps", study.warmup_steps + study.steps);
  set("metrics.log_freq", 1);
  const std::vector<std::string> given = names_of(study.settings);
  const auto is_given = [&given](const char* key) {
    return std::find(given.begin(), given.end(), key) != given.end();
  };
  if (!is_given("training.global_batch_size")) {
    set("training.global_batch_size", batch_of(candidate, study, base));
  }
  // Neither is a part of a step, and both take time beside it.
  if (base.validation.enable && !is_given("validation.enable")) {
    set("validation.enable", "false");
  }
  if (base.checkpoint.enable && !is_given("checkpoint.enable")) {
    set("checkpoint.enable", "false");
  }
  if (!candidate.flavor.empty()) {
    set("model.flavor", candidate.flavor);
  }
  if (candidate.zero_stage) {
    set("parallelism.zero_stage", *candidate.zero_stage);
  }
  if (!candidate.schedule.empty()) {
    set("parallelism.pipeline_parallel_schedule", candidate.schedule);
  }
  if (candidate.microbatch_size) {
    set("training.microbatch_size", *candidate.microbatch_size);
  }
  return out;
}

/// Weights of a decoder, near enough for a guess of its time.
double weights_of(const config::Model& model) {
  const auto dim = static_cast<double>(model.dim);
  const double kv = static_cast<double>(model.n_kv_heads) / static_cast<double>(model.n_heads);
  const double attention = dim * dim * (2 + 2 * kv);
  const double feed_forward = 3 * dim * static_cast<double>(model.ffn_dim);
  return static_cast<double>(model.n_layers) * (attention + feed_forward) +
         dim * static_cast<double>(model.vocab_size);
}

std::string id_with(const std::string& flavor,
                    const Candidate& candidate,
                    const std::optional<int64_t>& zero_stage,
                    const std::string& schedule,
                    const std::optional<int64_t>& microbatch_size) {
  std::string mesh = candidate.mesh.family;
  if (mesh.find(' ') != std::string::npos) {
    mesh = to_string(candidate.mesh.degrees);
    mesh.erase(std::remove(mesh.begin(), mesh.end(), ' '), mesh.end());
  }
  std::string id = flavor.empty() ? "" : concat(flavor, '-');
  id += concat(candidate.ranks == 1 ? "one" : mesh, "-r", candidate.ranks);
  id += candidate.threads == 1 ? "" : concat("-t", candidate.threads);
  id += zero_stage ? concat("-z", *zero_stage) : "";
  id += schedule.empty() ? "" : concat('-', schedule);
  id += microbatch_size ? concat("-mb", *microbatch_size) : "";
  return id;
}

}  // namespace

std::vector<Candidate> candidates(const Study& study) {
  const Axes& grid = study.grid;
  const bool by_memory = study.scaling == scaling::Scaling::kMemoryConstrained;
  std::vector<Candidate> out;
  const auto add = [&](Candidate candidate) {
    const Degrees& degrees = candidate.mesh.degrees;
    for (const auto& zero : or_base(grid.zero_stages, degrees.dp_shard > 1)) {
      for (const auto& schedule : or_base(grid.schedules, degrees.pp > 1)) {
        for (const auto& microbatch : or_base(grid.microbatch_sizes, true)) {
          candidate.zero_stage = zero;
          candidate.schedule = schedule.value_or("");
          candidate.microbatch_size = microbatch;
          out.push_back(candidate);
        }
      }
    }
  };
  for (const auto& flavor : or_base(grid.flavors, !by_memory)) {
    for (const int64_t threads : grid.threads) {
      for (const int64_t ranks : grid.ranks) {
        for (const MeshChoice& mesh : grid.meshes.at(ranks)) {
          add({ranks, threads, mesh, flavor.value_or("")});
          if (ranks == 1) {
            break;  // all meshes of one rank are the same
          }
        }
      }
    }
  }
  return out;
}

std::string id_of(const Candidate& candidate) {
  return id_with(candidate.flavor,
                 candidate,
                 candidate.zero_stage,
                 candidate.schedule,
                 candidate.microbatch_size);
}

Result<Plan> plan_of(const Candidate& candidate,
                     const Study& study,
                     const config::RunConfig& base) {
  const Degrees& degrees = candidate.mesh.degrees;
  if (study.scaling == scaling::Scaling::kWeak && candidate.ranks > 1 &&
      degrees.data_ranks() == 1) {
    return fail(ErrorCode::kUsage,
                concat("weak scaling makes the batch grow with the data ranks, and ",
                       to_string(degrees),
                       " has one: the work of a rank would fall; measure it with scaling = "
                       "\"strong\""));
  }
  Plan plan = {candidate, settings_of(candidate, study, base), {}, {}};
  Result<config::RunConfig> config = config::load(study.base, plan.settings);
  if (!config) {
    return fail(ErrorCode::kUsage, one_line(config.error().text));
  }
  Result<config::RunFacts> facts = config::resolve(*config, candidate.ranks);
  if (!facts) {
    return fail(ErrorCode::kUsage, one_line(facts.error().text));
  }
  plan.config = std::move(*config);
  plan.facts = std::move(*facts);
  return plan;
}

PlannedPoint point_of(const Plan& plan, int64_t cores) {
  const Candidate& candidate = plan.candidate;
  const config::RunFacts& facts = plan.facts;
  const config::Model& model = plan.config.model;
  const std::string schedule =
      facts.pp > 1 ? plan.config.parallelism.pipeline_parallel_schedule : "";
  const auto zero = facts.dp_shard > 1 ? std::optional<int64_t>(facts.zero_stage) : std::nullopt;
  PlannedPoint out;
  out.point.id = id_with(model.flavor, candidate, zero, schedule, facts.microbatch_size);
  out.point.ranks = candidate.ranks;
  out.point.threads = candidate.threads;
  out.point.mesh = value_or_throw(mesh::Mesh::create(facts.axes)).to_string();
  out.point.zero_stage = facts.zero_stage;
  out.point.schedule = schedule;
  out.point.microbatch_size = facts.microbatch_size;
  out.point.global_batch_size = facts.global_batch;
  out.point.model = concat(model.name, ' ', model.flavor);
  out.point.oversubscribed = candidate.ranks * candidate.threads > cores;
  out.settings = plan.settings;
  out.seq_len = plan.config.training.seq_len;
  constexpr double kFlopsPerWeight = 6;
  out.step_flops = kFlopsPerWeight * weights_of(model) * static_cast<double>(facts.tokens_per_step);
  return out;
}

}  // namespace brigade::study
