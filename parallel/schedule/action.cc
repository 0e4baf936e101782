// SPDX-License-Identifier: Apache-2.0
#include "parallel/schedule/action.h"

#include "parallel/base/check.h"
#include "parallel/base/text.h"

namespace brigade::schedule {

std::string_view to_string(ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward: return "F";
    case ActionKind::kBackward: return "B";
    case ActionKind::kSendActivation: return "SEND_F";
    case ActionKind::kReceiveActivation: return "RECV_F";
    case ActionKind::kSendGradient: return "SEND_B";
    case ActionKind::kReceiveGradient: return "RECV_B";
    case ActionKind::kUnshard: return "UNSHARD";
    case ActionKind::kReshard: return "RESHARD";
    case ActionKind::kReduceUnit: return "REDUCE_GRAD";
    case ActionKind::kReduceGradients: return "END_REDUCE";
    case ActionKind::kExchangeTied: return "EXCHANGE_TIED";
    case ActionKind::kGradientNorm: return "NORM";
    case ActionKind::kOptimizerStep: return "OPT_STEP";
    case ActionKind::kGatherParameters: return "GATHER_PARAMS";
  }
  BRIGADE_CHECK(false, static_cast<int>(kind));
}

bool is_compute(ActionKind kind) {
  return kind == ActionKind::kForward || kind == ActionKind::kBackward;
}

bool is_send(ActionKind kind) {
  return kind == ActionKind::kSendActivation || kind == ActionKind::kSendGradient;
}

bool is_receive(ActionKind kind) {
  return kind == ActionKind::kReceiveActivation || kind == ActionKind::kReceiveGradient;
}

bool is_of_unit(ActionKind kind) {
  return kind == ActionKind::kUnshard || kind == ActionKind::kReshard ||
         kind == ActionKind::kReduceUnit;
}

bool is_tail(ActionKind kind) {
  return !is_compute(kind) && !is_send(kind) && !is_receive(kind) && !is_of_unit(kind);
}

std::string to_string(const Action& action) {
  std::string text;
  if (action.stage.value() >= 0) {
    text += std::to_string(action.stage.value());
  }
  text += to_string(action.kind);
  if (action.microbatch.value() >= 0) {
    text += std::to_string(action.microbatch.value());
  }
  if (action.unit >= 0) {
    text += "." + std::to_string(action.unit);
  }
  return text;
}

Message message_of(const Action& action) {
  const int64_t stage = action.stage.value();
  switch (action.kind) {
    case ActionKind::kSendActivation:
    case ActionKind::kSendGradient: return {action.kind, action.stage, action.microbatch};
    case ActionKind::kReceiveActivation:
      return {ActionKind::kSendActivation, StageId(stage - 1), action.microbatch};
    case ActionKind::kReceiveGradient:
      return {ActionKind::kSendGradient, StageId(stage + 1), action.microbatch};
    default: BRIGADE_CHECK(false, "neither a send nor a receive", to_string(action));
  }
}

Message message_out(const Action& compute) {
  BRIGADE_CHECK(is_compute(compute.kind), to_string(compute));
  const bool forward = compute.kind == ActionKind::kForward;
  return {forward ? ActionKind::kSendActivation : ActionKind::kSendGradient,
          compute.stage,
          compute.microbatch};
}

Message message_in(const Action& compute) {
  BRIGADE_CHECK(is_compute(compute.kind), to_string(compute));
  const bool forward = compute.kind == ActionKind::kForward;
  return {forward ? ActionKind::kSendActivation : ActionKind::kSendGradient,
          StageId(compute.stage.value() + (forward ? -1 : 1)),
          compute.microbatch};
}

}  // namespace brigade::schedule
