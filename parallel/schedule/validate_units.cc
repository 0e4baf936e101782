// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>
#include <utility>

#include "parallel/base/text.h"
#include "parallel/schedule/units.h"
#include "parallel/schedule/validate_order.h"

namespace brigade::schedule {
namespace {

using UnitKey = std::pair<int64_t, int64_t>;

/// Walks one rank's list and knows what is whole, what ran and what was reduced.
class UnitWalk {
 public:
  UnitWalk(const Schedule& schedule, const UnitPlan& plan, size_t rank)
      : schedule_(schedule), plan_(plan), place_{rank, 0} {}

  Result<void> run() {
    const std::vector<Action>& row = schedule_.per_rank[place_.rank];
    for (; place_.index < row.size(); ++place_.index) {
      if (Result<void> fine = visit(row[place_.index]); !fine) {
        return fine;
      }
    }
    place_.index = row.size() - 1;
    if (!whole_.empty()) {
      return refuse("unit ", whole_.begin()->second, " is still whole at the end");
    }
    return check_reductions();
  }

 private:
  template <class... T>
  Result<void> refuse(const T&... parts) const {
    return fail(ErrorCode::kUsage,
                concat("schedule: ", describe(schedule_, place_), ": ", parts...));
  }

  Result<void> visit(const Action& action) {
    const UnitKey unit{action.stage.value(), action.unit};
    switch (action.kind) {
      case ActionKind::kForward:
      case ActionKind::kBackward: return compute(action, unit);
      case ActionKind::kUnshard:
        return whole_.insert(unit).second ? bounded() : refuse("the unit is whole already");
      case ActionKind::kReshard:
        return whole_.erase(unit) == 1 ? Result<void>() : refuse("the unit is not whole");
      case ActionKind::kReduceUnit: return reduce(unit);
      default: return in_order(0);
    }
  }

  Result<void> bounded() const {
    const bool counts = plan_.weights == Weights::kEachUse;
    return counts && std::ssize(whole_) > 1 + plan_.prefetch
               ? refuse(whole_.size(), " units are whole; expected at most ", 1 + plan_.prefetch)
               : Result<void>();
  }

  /// Between two stages' computes every unit of the one before has run.
  Result<void> in_order(int64_t expected) const {
    return units_run_ == expected ? Result<void>()
                                  : refuse("expected unit ", units_run_, " of the stage first");
  }

  Result<void> compute(const Action& action, UnitKey unit) {
    const int64_t count = plan_.units_of_stage[static_cast<size_t>(action.stage.value())];
    const int64_t turn =
        action.kind == ActionKind::kForward ? action.unit : count - 1 - action.unit;
    if (turn < 0 || turn >= count) {
      return refuse("expected a unit below ", count);
    }
    if (Result<void> order = in_order(turn); !order) {
      return order;
    }
    units_run_ = (units_run_ + 1) % count;
    if (plan_.weights != Weights::kResident && !whole_.contains(unit)) {
      return refuse("the unit is not whole");
    }
    if (action.kind == ActionKind::kBackward) {
      ++backwards_[unit];
    }
    return {};
  }

  Result<void> reduce(UnitKey unit) {
    ++reductions_[unit];
    const bool due = plan_.reduce == Reduce::kMicrobatch
                         ? reductions_[unit] == backwards_[unit]
                         : backwards_[unit] == schedule_.header.microbatches;
    return due ? Result<void>() : refuse("the gradient is not complete");
  }

  Result<void> check_reductions() const {
    for (const auto& [unit, backwards] : backwards_) {
      const int64_t expected = plan_.reduce == Reduce::kMicrobatch ? backwards : 1;
      const auto found = reductions_.find(unit);
      const int64_t reductions = found == reductions_.end() ? 0 : found->second;
      if (reductions != expected) {
        return refuse("unit ",
                      unit.second,
                      " of stage ",
                      unit.first,
                      " is reduced ",
                      reductions,
                      " times; expected ",
                      expected);
      }
    }
    return {};
  }

  const Schedule& schedule_;
  const UnitPlan& plan_;
  Place place_;
  int64_t units_run_ = 0;  // of the compute action under way
  std::set<UnitKey> whole_;
  std::map<UnitKey, int64_t> backwards_;
  std::map<UnitKey, int64_t> reductions_;
};

/// The stages' schedule that a list of units came from: an action stands where its last unit did.
Schedule whole_stages(const Schedule& schedule, const UnitPlan& plan) {
  Schedule stages{schedule.header, {}};
  for (const std::vector<Action>& row : schedule.per_rank) {
    stages.per_rank.emplace_back();
    std::vector<int64_t> dependencies;  // of the first unit
    for (Action action : row) {
      if (is_of_unit(action.kind)) {
        continue;
      }
      if (is_compute(action.kind)) {
        const int64_t last = plan.units_of_stage[static_cast<size_t>(action.stage.value())] - 1;
        const bool forward = action.kind == ActionKind::kForward;
        if (action.unit == (forward ? 0 : last)) {
          dependencies = action.dependencies;
        }
        if (action.unit != (forward ? last : 0)) {
          continue;
        }
        action.unit = -1;
        action.dependencies = dependencies;
      }
      stages.per_rank.back().push_back(std::move(action));
    }
  }
  return stages;
}

Result<void> check_stages(const Schedule& schedule, const UnitPlan& plan) {
  if (std::ssize(plan.units_of_stage) != schedule.header.stages) {
    return fail(ErrorCode::kUsage,
                concat("schedule: expected the units of each of ",
                       schedule.header.stages,
                       " stages; found ",
                       plan.units_of_stage.size()));
  }
  for (size_t rank = 0; rank < schedule.per_rank.size(); ++rank) {
    for (size_t index = 0; index < schedule.per_rank[rank].size(); ++index) {
      const Action& action = schedule.per_rank[rank][index];
      const int64_t stage = action.stage.value();
      if ((is_compute(action.kind) || is_of_unit(action.kind)) &&
          (stage < 0 || stage >= schedule.header.stages)) {
        return fail(ErrorCode::kUsage,
                    concat("schedule: ",
                           describe(schedule, {rank, index}),
                           ": expected a stage below ",
                           schedule.header.stages));
      }
    }
  }
  return {};
}

}  // namespace

Result<void> validate_units(const Schedule& schedule, const UnitPlan& plan) {
  if (Result<void> sound = check_stages(schedule, plan); !sound) {
    return sound;
  }
  if (Result<void> stages = validate(whole_stages(schedule, plan)); !stages) {
    return stages;
  }
  for (size_t rank = 0; rank < schedule.per_rank.size(); ++rank) {
    if (Result<void> fine = UnitWalk(schedule, plan, rank).run(); !fine) {
      return fine;
    }
  }
  return {};
}

}  // namespace brigade::schedule
