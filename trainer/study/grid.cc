// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/grid.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "parallel/base/text.h"
#include "trainer/config/load.h"
#include "trainer/study/candidate.h"
#include "trainer/study/peer_points.h"

namespace brigade::study {
namespace {

/// What points of a series share beside their mesh, their ZeRO stage and their schedule.
struct Kin {
  std::string flavor;
  int64_t threads = 1;
  int64_t microbatch_size = 1;

  auto operator<=>(const Kin&) const = default;
};

std::string constant_of(const Study& study) {
  switch (study.scaling) {
    case scaling::Scaling::kStrong: return "constant: the model and the global batch";
    case scaling::Scaling::kWeak:
      return "constant: the model and the sequences of each data rank; the global batch grows with "
             "the data ranks";
    case scaling::Scaling::kMemoryConstrained:
      return concat("constant: the global batch and ",
                    bytes_text(study.memory_per_rank),
                    " for each rank; the model is the largest that fits");
  }
  return "";
}

class Planner {
 public:
  Planner(const Study& study, const Machine& machine, const config::RunConfig& base)
      : study_(study), machine_(machine), base_(base) {}

  Result<Grid> run() {
    grid_.constant = constant_of(study_);
    for (const Candidate& candidate : candidates(study_)) {
      take(candidate);
    }
    if (grid_.points.empty()) {
      return fail(ErrorCode::kUsage, none_text());
    }
    begin_with_one_rank();
    for (PlannedSeries& series : grid_.series) {
      sort_by_ranks(series);
    }
    if (const Result<void> added = add_peers(study_, families_, grid_); !added) {
      return fail(added.error());
    }
    return std::move(grid_);
  }

 private:
  void refuse(std::string id, std::string reason) {
    grid_.refused.push_back({std::move(id), std::move(reason)});
  }

  std::string none_text() const {
    std::string text = concat("no point of the study can run; why each fell:");
    for (const RefusedPoint& point : grid_.refused) {
      text += concat("\n  ", point.id, ": ", point.reason);
    }
    return text;
  }

  void take(const Candidate& candidate) {
    const int64_t busy = candidate.ranks * candidate.threads;
    if (busy > machine_.cores && !study_.oversubscribe) {
      refuse(id_of(candidate),
             concat(counted(candidate.ranks, "rank"),
                    " x ",
                    counted(candidate.threads, "thread"),
                    " are more than the ",
                    counted(machine_.cores, "core"),
                    " of this machine; set oversubscribe = true in [study] to run it, marked"));
      return;
    }
    const Result<Plan> plan = study_.scaling == scaling::Scaling::kMemoryConstrained
                                  ? largest_that_fits(candidate)
                                  : plan_of(candidate, study_, base_);
    if (!plan) {
      refuse(id_of(candidate), plan.error().text);
      return;
    }
    add(*plan);
  }

  /// Errors: as plan_of() where no model makes a run, else what each would need.
  Result<Plan> largest_that_fits(Candidate candidate) {
    std::optional<Plan> best;
    int64_t best_bytes = 0;
    bool planned = false;
    std::optional<Error> no_run;
    std::vector<std::string> needs;
    for (const std::string& flavor : study_.grid.flavors) {
      candidate.flavor = flavor;
      Result<Plan> plan = plan_of(candidate, study_, base_);
      const Result<int64_t> bytes = plan ? machine_.planned_bytes(plan->config, plan->facts)
                                         : Result<int64_t>(fail(plan.error()));
      if (!bytes) {
        needs.push_back(concat(flavor, ": ", bytes.error().text));
        no_run = bytes.error();
        continue;
      }
      planned = true;
      needs.push_back(concat(flavor, " needs ", bytes_text(*bytes)));
      if (*bytes <= study_.memory_per_rank && *bytes > best_bytes) {
        best = std::move(*plan);
        best_bytes = *bytes;
      }
    }
    if (!planned && no_run) {
      return fail(*no_run);
    }
    if (!best) {
      return fail(ErrorCode::kUsage,
                  concat("no model fits memory_per_rank ",
                         bytes_text(study_.memory_per_rank),
                         ": ",
                         join(needs)));
    }
    return std::move(*best);
  }

  void add(const Plan& plan) {
    PlannedPoint planned = point_of(plan, machine_.cores);
    if (!ids_.insert(planned.point.id).second) {
      return;  // the same run by another way: a list that names what is the base's own, say
    }
    const Kin kin = kin_of(planned, plan);
    const size_t index = grid_.points.size();
    if (planned.point.ranks == 1) {
      ones_.emplace_back(index, kin);
    } else {
      const std::string name =
          name_of(kin, plan.candidate.mesh.family, planned.point, plan.facts.dp_shard > 1);
      join_series(name, kin, plan.candidate.mesh.family, index);
      planned.point.series = name;
    }
    grid_.points.push_back(std::move(planned));
  }

  Kin kin_of(const PlannedPoint& planned, const Plan& plan) const {
    const bool by_memory = study_.scaling == scaling::Scaling::kMemoryConstrained;
    return {by_memory ? "" : plan.config.model.flavor,
            planned.point.threads,
            planned.point.microbatch_size};
  }

  /// "tiny dp zero 0 2 threads mb 4": threads and microbatch where the grid has several.
  std::string name_of(const Kin& kin,
                      const std::string& family,
                      const scaling::Point& point,
                      bool shards) const {
    std::vector<std::string> words;
    if (!kin.flavor.empty()) {
      words.push_back(kin.flavor);
    }
    words.push_back(family);
    if (shards) {
      words.push_back(concat("zero ", point.zero_stage));
    }
    if (!point.schedule.empty()) {
      words.push_back(point.schedule);
    }
    if (study_.grid.threads.size() > 1) {
      words.push_back(counted(kin.threads, "thread"));
    }
    if (study_.grid.microbatch_sizes.size() > 1) {
      words.push_back(concat("mb ", kin.microbatch_size));
    }
    return join(words, " ");
  }

  void join_series(const std::string& name,
                   const Kin& kin,
                   const std::string& family,
                   size_t point) {
    auto found = std::find_if(grid_.series.begin(), grid_.series.end(), [&name](const auto& one) {
      return one.name == name;
    });
    if (found == grid_.series.end()) {
      grid_.series.push_back({name, {}});
      kins_.push_back(kin);
      families_.push_back(family);
      found = std::prev(grid_.series.end());
    }
    found->points.push_back(point);
  }

  /// With the batch of one data rank, one rank's work is that of a rank along data axes alone.
  bool may_begin(const std::string& family) const {
    return study_.scaling != scaling::Scaling::kWeak || family == "dp" || family == "dp_replicate";
  }

  void begin_with_one_rank() {
    for (const auto& [index, kin] : ones_) {
      scaling::Point& point = grid_.points[index].point;
      for (size_t at = 0; at < grid_.series.size(); ++at) {
        PlannedSeries& series = grid_.series[at];
        if (kins_[at] == kin && may_begin(families_[at]) &&
            grid_.points[series.points.front()].point.ranks > 1) {
          series.points.push_back(index);
          point.series = point.series.empty() ? series.name : point.series;
        }
      }
      if (point.series.empty()) {
        point.series = name_of(kin, "one rank", point, false);
        join_series(point.series, kin, "one rank", index);
      }
    }
  }

  void sort_by_ranks(PlannedSeries& series) const {
    std::stable_sort(series.points.begin(), series.points.end(), [this](size_t a, size_t b) {
      return grid_.points[a].point.ranks < grid_.points[b].point.ranks;
    });
  }

  const Study& study_;
  const Machine& machine_;
  const config::RunConfig& base_;
  Grid grid_;
  std::set<std::string> ids_;
  std::vector<std::pair<size_t, Kin>> ones_;  ///< points of one rank
  std::vector<Kin> kins_;                     ///< by series
  std::vector<std::string> families_;         ///< by series
};

}  // namespace

Result<Grid> points_of(const Study& study, const Machine& machine) {
  if (study.scaling == scaling::Scaling::kMemoryConstrained && !machine.planned_bytes) {
    return fail(ErrorCode::kUsage,
                "a memory-constrained study needs a plan of memory, which this build cannot make");
  }
  const Result<config::RunConfig> base = config::load(study.base, study.settings);
  if (!base) {
    return fail(base.error().code,
                concat("the base recipe with the study's settings: ", base.error().text));
  }
  return Planner(study, machine, *base).run();
}

}  // namespace brigade::study
