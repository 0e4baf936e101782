// SPDX-License-Identifier: Apache-2.0
/// What an action is on the timeline of the rank that performs it.
///
///   const TimelineScope scope(timeline, activity_of(action.kind), place_of(action));
///
/// Thread safety: pure functions.
#pragma once

#include "parallel/base/timeline.h"
#include "parallel/schedule/action.h"

namespace brigade::schedule {

/// What such an action does beside the operations of groups in it, which leave spans of their own.
Activity activity_of(ActionKind kind);

/// Stage, unit and microbatch, where it has them.
Place place_of(const Action& action);

}  // namespace brigade::schedule
