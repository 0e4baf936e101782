// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/study_checks.h"

#include <algorithm>
#include <array>
#include <functional>

#include "parallel/base/text.h"
#include "trainer/config/recipe.h"

namespace brigade::study {
namespace {

struct Decided {
  const char* setting;
  const char* by;
};
constexpr std::array kDecided = {
    Decided{"training.steps", "steps and warmup_steps of [study]"},
    Decided{"job.dump_folder", "output_folder of [study]"},
    Decided{"metrics.log_freq", "the study, which reads every step"},
    Decided{"profiling.enable_profiling", "the study, which reads every profile"},
    Decided{"profiling.save_traces_folder", "the study, which reads every profile"},
    Decided{"profiling.profile_freq", "steps and warmup_steps of [study]"},
    Decided{"profiling.profiler_active", "steps of [study]"},
    Decided{"launch.ranks", "ranks of [grid]"},
    Decided{"launch.threads_per_rank", "threads of [grid]"},
    Decided{"parallelism.data_parallel_replicate_degree", "mesh of [grid]"},
    Decided{"parallelism.data_parallel_shard_degree", "mesh of [grid]"},
    Decided{"parallelism.tensor_parallel_degree", "mesh of [grid]"},
    Decided{"parallelism.pipeline_parallel_degree", "mesh of [grid]"}};

struct Listed {
  const char* setting;
  const char* key;
  std::function<bool(const Axes&)> given;
};
const std::array kListed = {
    Listed{"parallelism.zero_stage",
           "zero_stage",
           [](const Axes& grid) { return !grid.zero_stages.empty(); }},
    Listed{"parallelism.pipeline_parallel_schedule",
           "schedule",
           [](const Axes& grid) { return !grid.schedules.empty(); }},
    Listed{"training.microbatch_size",
           "microbatch_size",
           [](const Axes& grid) { return !grid.microbatch_sizes.empty(); }},
    Listed{"model.flavor", "model_flavor", [](const Axes& grid) { return !grid.flavors.empty(); }}};

bool any_mesh(const Axes& grid, const std::function<bool(const Degrees&)>& holds) {
  return std::any_of(grid.meshes.begin(), grid.meshes.end(), [&holds](const auto& of_ranks) {
    return std::any_of(of_ranks.second.begin(),
                       of_ranks.second.end(),
                       [&holds](const MeshChoice& choice) { return holds(choice.degrees); });
  });
}

void check_settings(const Study& study, TableReader& reader) {
  for (const std::string& name : names_of(study.settings)) {
    if (const std::string by = decided_by(name); !by.empty()) {
      reader.problem("settings", concat(name, " is decided by ", by, "; take it out of settings"));
    }
    for (const Listed& row : kListed) {
      if (name == row.setting && row.given(study.grid)) {
        reader.problem("settings",
                       concat(name,
                              " contradicts ",
                              row.key,
                              " of [grid], which lists values for it; take one of them out"));
      }
    }
    const bool batch = name == "training.global_batch_size" || name == "training.local_batch_size";
    if (batch && study.scaling == scaling::Scaling::kWeak) {
      reader.problem("settings",
                     concat(name,
                            " fixes a batch that weak scaling makes grow with the data ranks; set "
                            "batch_per_data_rank of [study] instead"));
    }
  }
}

}  // namespace

std::vector<std::string> names_of(const std::vector<std::string>& settings) {
  std::vector<std::string> names;
  for (const std::string& text : settings) {
    const config::SplitArguments split = config::split_arguments({text});
    const std::string& written = split.overrides.empty() ? text : split.overrides.front();
    names.push_back(written.substr(0, written.find('=')));
    std::replace(names.back().begin(), names.back().end(), '-', '_');
  }
  return names;
}

std::string decided_by(const std::string& setting) {
  const auto* found = std::find_if(kDecided.begin(), kDecided.end(), [&setting](const auto& row) {
    return setting == row.setting;
  });
  return found == kDecided.end() ? "" : found->by;
}

void check_study(const Study& study, TableReader& reader) {
  if (reader.has("batch_per_data_rank") && study.scaling != scaling::Scaling::kWeak) {
    reader.problem("batch_per_data_rank",
                   concat("batch_per_data_rank is for scaling = \"weak\", found \"",
                          to_string(study.scaling),
                          "\", whose global batch is training.global_batch_size of the base"));
  }
  const bool by_memory = study.scaling == scaling::Scaling::kMemoryConstrained;
  if (reader.has("memory_per_rank") && !by_memory) {
    reader.problem("memory_per_rank",
                   concat("memory_per_rank is for scaling = \"memory_constrained\", found \"",
                          to_string(study.scaling),
                          '"'));
  }
  if (by_memory && !reader.has("memory_per_rank")) {
    reader.problem("scaling",
                   "scaling = \"memory_constrained\" needs memory_per_rank, such as \"2 GiB\"");
  }
  if (by_memory && study.grid.flavors.size() < 2) {
    reader.problem("scaling",
                   "scaling = \"memory_constrained\" chooses the largest model that fits; list at "
                   "least two as model_flavor of [grid]");
  }
  check_settings(study, reader);
}

void check_grid(const Study& study, TableReader& reader) {
  const Axes& grid = study.grid;
  const bool shares = std::any_of(
      grid.zero_stages.begin(), grid.zero_stages.end(), [](int64_t stage) { return stage > 0; });
  if (shares && !any_mesh(grid, [](const Degrees& degrees) { return degrees.dp_shard > 1; })) {
    reader.problem("zero_stage",
                   "zero_stage above 0 shares states over dp, and no mesh of the grid has more "
                   "than one rank there; add \"dp\" to mesh, or leave zero_stage out");
  }
  if (!grid.schedules.empty() &&
      !any_mesh(grid, [](const Degrees& degrees) { return degrees.pp > 1; })) {
    reader.problem("schedule",
                   "schedule is for pipelines, and no mesh of the grid has more than one rank "
                   "along pp; add \"pp\" to mesh, or leave schedule out");
  }
}

}  // namespace brigade::study
