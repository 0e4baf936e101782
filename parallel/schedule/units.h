// SPDX-License-Identifier: Apache-2.0
/// From a schedule of whole stages to one of units: the embedding, each block, the head. This is
/// the list that runs: every gather and every reduction of a step stands in it, where it is begun.
///
///   Schedule stages = value_or_throw(generate({...}));
///   Schedule units =
///       lower_units(stages, {.units_of_stage = {3, 3}, .weights = Weights::kEachUse});
///   // 0UNSHARD.0, 0UNSHARD.1, 0F0.0, 0RESHARD.0, 0UNSHARD.2, 0F0.1, ...
///
/// A forward becomes one per unit, a backward one per unit in reverse. Weights that are stored
/// sharded (ZeRO 3) are gathered ahead: before a unit computes, the gathers of the next `prefetch`
/// units have begun, across forwards and backwards, so at most 1 + prefetch units are whole. A unit
/// that is needed again within that window stays. A unit's gradients are reduced right after its
/// backward, so that the reduction runs while the unit before it computes.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/schedule/schedule.h"

namespace brigade::schedule {

/// How long a unit's weights are whole.
enum class Weights : uint8_t {
  kResident,  ///< always: ZeRO 0, 1, 2
  kEachUse,   ///< around each forward and each backward: ZeRO 3
  kWholeStep  ///< from the first use in a step to the last: ZeRO 3, more memory, fewer bytes
};

/// When a unit's gradients are reduced.
enum class Reduce : uint8_t {
  kStep,       ///< once, after its last backward
  kMicrobatch  ///< after each backward
};

struct UnitPlan {
  std::vector<int64_t> units_of_stage;
  Weights weights = Weights::kResident;
  int64_t prefetch = 1;  ///< units that are gathered ahead; 0: each when it is needed
  Reduce reduce = Reduce::kStep;
};

/// `schedule` of whole stages, valid. Ids are new; dependencies point to the unit that completes
/// what they named. Needs a count above 0 for each stage.
Schedule lower_units(const Schedule& schedule, const UnitPlan& plan);

/// The forwards and their messages alone: an evaluation.
Schedule forwards_of(const Schedule& schedule);

/// What must hold of every list of units: the stages' schedule that it came from is valid; units
/// run in order, each once per compute; a unit computes only while it is whole, is gathered only
/// while it is not, and at most 1 + prefetch (kEachUse) are whole at once, none at the end; each is
/// reduced exactly as often as `plan` says, right after the backward that completes its gradient.
///
/// Errors: kUsage with rank, position and both neighbours of the first offending action.
Result<void> validate_units(const Schedule& schedule, const UnitPlan& plan);

}  // namespace brigade::schedule
