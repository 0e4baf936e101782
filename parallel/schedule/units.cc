// SPDX-License-Identifier: Apache-2.0
#include "parallel/schedule/units.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "parallel/base/check.h"

namespace brigade::schedule {
namespace {

/// Units of a rank are told apart by their stage too: a rank may hold several stages.
using UnitKey = std::pair<int64_t, int64_t>;

UnitKey unit_of(const Action& action) {
  return {action.stage.value(), action.unit};
}

Action of_unit(ActionKind kind, const Action& compute) {
  Action action;
  action.kind = kind;
  action.stage = compute.stage;
  action.unit = compute.unit;
  return action;
}

int64_t units_of(const UnitPlan& plan, const Action& action) {
  const auto stage = static_cast<size_t>(action.stage.value());
  BRIGADE_CHECK(stage < plan.units_of_stage.size() && plan.units_of_stage[stage] > 0,
                to_string(action));
  return plan.units_of_stage[stage];
}

/// Every compute action as its units', which keep the id of what they came from.
std::vector<Action> divided(const std::vector<Action>& row, const UnitPlan& plan) {
  std::vector<Action> units;
  for (const Action& action : row) {
    if (!is_compute(action.kind)) {
      units.push_back(action);
      continue;
    }
    BRIGADE_CHECK(action.unit < 0, "divided already:", to_string(action));
    const int64_t count = units_of(plan, action);
    for (int64_t i = 0; i < count; ++i) {
      units.push_back(action);
      units.back().unit = action.kind == ActionKind::kForward ? i : count - 1 - i;
      if (i > 0) {
        units.back().dependencies.clear();
      }
    }
  }
  return units;
}

/// The units of a row's compute actions in order, and which of them are whole when.
class Window {
 public:
  Window(const std::vector<Action>& row, const UnitPlan& plan) : plan_(plan) {
    for (const Action& action : row) {
      if (is_compute(action.kind)) {
        uses_.push_back(action);
      }
    }
  }

  /// Gathers to begin before the next use.
  std::vector<Action> before() {
    std::vector<Action> gathers;
    for (size_t i = next_; i < window_end(next_); ++i) {
      if (whole_.insert(unit_of(uses_[i])).second) {
        gathers.push_back(of_unit(ActionKind::kUnshard, uses_[i]));
      }
    }
    return gathers;
  }

  /// After that use: true if its unit is to be freed.
  bool frees_after() {
    const UnitKey used = unit_of(uses_[next_]);
    ++next_;
    const size_t end = plan_.weights == Weights::kWholeStep ? uses_.size() : window_end(next_);
    for (size_t i = next_; i < end; ++i) {
      if (unit_of(uses_[i]) == used) {
        return false;
      }
    }
    whole_.erase(used);
    return true;
  }

 private:
  size_t window_end(size_t begin) const {
    return std::min(begin + 1 + static_cast<size_t>(plan_.prefetch), uses_.size());
  }

  const UnitPlan& plan_;
  std::vector<Action> uses_;
  size_t next_ = 0;
  std::set<UnitKey> whole_;
};

std::vector<Action> with_gathers(std::vector<Action> row, const UnitPlan& plan) {
  if (plan.weights == Weights::kResident) {
    return row;
  }
  Window window(row, plan);
  std::vector<Action> result;
  for (Action& action : row) {
    if (!is_compute(action.kind)) {
      result.push_back(std::move(action));
      continue;
    }
    std::ranges::copy(window.before(), std::back_inserter(result));
    const Action compute = action;
    result.push_back(std::move(action));
    if (window.frees_after()) {
      result.push_back(of_unit(ActionKind::kReshard, compute));
    }
  }
  return result;
}

/// A reduction follows the backward, and the freeing of its weights, that completes a gradient.
std::vector<Action> with_reductions(std::vector<Action> row, const UnitPlan& plan) {
  std::map<UnitKey, int64_t> backwards_left;
  for (const Action& action : row) {
    backwards_left[unit_of(action)] += action.kind == ActionKind::kBackward ? 1 : 0;
  }
  std::vector<Action> result;
  for (size_t i = 0; i < row.size(); ++i) {
    const Action action = row[i];
    result.push_back(action);
    if (action.kind != ActionKind::kBackward) {
      continue;
    }
    const int64_t left = --backwards_left[unit_of(action)];
    if (i + 1 < row.size() && row[i + 1].kind == ActionKind::kReshard) {
      result.push_back(row[++i]);
    }
    if (plan.reduce == Reduce::kMicrobatch || left == 0) {
      result.push_back(of_unit(ActionKind::kReduceUnit, action));
      result.back().microbatch =
          plan.reduce == Reduce::kMicrobatch ? action.microbatch : MicrobatchId();
    }
  }
  return result;
}

/// New ids in list order; a dependency on a divided action becomes one on its last unit.
void number(Schedule& schedule) {
  std::map<int64_t, int64_t> id_of_source;
  int64_t next = 0;
  for (std::vector<Action>& row : schedule.per_rank) {
    for (Action& action : row) {
      const int64_t id = next++;
      if (action.id >= 0) {
        id_of_source[action.id] = id;
      }
      action.id = id;
    }
  }
  for (std::vector<Action>& row : schedule.per_rank) {
    for (Action& action : row) {
      std::erase_if(action.dependencies, [&](int64_t id) { return !id_of_source.contains(id); });
      for (int64_t& id : action.dependencies) {
        id = id_of_source.at(id);
      }
    }
  }
}

}  // namespace

Schedule lower_units(const Schedule& schedule, const UnitPlan& plan) {
  BRIGADE_CHECK(std::ssize(plan.units_of_stage) == schedule.header.stages && plan.prefetch >= 0,
                plan.units_of_stage.size(),
                plan.prefetch);
  Schedule lowered{schedule.header, {}};
  for (const std::vector<Action>& row : schedule.per_rank) {
    lowered.per_rank.push_back(with_reductions(with_gathers(divided(row, plan), plan), plan));
  }
  number(lowered);
  return lowered;
}

Schedule forwards_of(const Schedule& schedule) {
  Schedule forwards{schedule.header, {}};
  for (const std::vector<Action>& row : schedule.per_rank) {
    forwards.per_rank.emplace_back();
    std::ranges::copy_if(
        row, std::back_inserter(forwards.per_rank.back()), [](const Action& action) {
          return action.kind == ActionKind::kForward ||
                 action.kind == ActionKind::kSendActivation ||
                 action.kind == ActionKind::kReceiveActivation;
        });
  }
  number(forwards);
  return forwards;
}

}  // namespace brigade::schedule
