// SPDX-License-Identifier: Apache-2.0
#include "parallel/schedule/activity.h"

#include "parallel/base/check.h"

namespace brigade::schedule {

Activity activity_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward: return Activity::kForward;
    case ActionKind::kBackward: return Activity::kBackward;
    case ActionKind::kSendActivation:
    case ActionKind::kReceiveActivation:
    case ActionKind::kSendGradient:
    case ActionKind::kReceiveGradient:
    case ActionKind::kExchangeTied: return Activity::kMessage;
    case ActionKind::kUnshard:
    case ActionKind::kReshard:
    case ActionKind::kGatherParameters: return Activity::kGather;
    case ActionKind::kReduceUnit:
    case ActionKind::kReduceGradients: return Activity::kReduce;
    case ActionKind::kGradientNorm: return Activity::kNorm;
    case ActionKind::kOptimizerStep: return Activity::kUpdate;
  }
  BRIGADE_CHECK(false, static_cast<int>(kind));
}

Place place_of(const Action& action) {
  Place place;
  place.stage = static_cast<int32_t>(action.stage.value());
  place.unit = static_cast<int32_t>(action.unit);
  place.microbatch = static_cast<int32_t>(action.microbatch.value());
  return place;
}

}  // namespace brigade::schedule
