// SPDX-License-Identifier: Apache-2.0
/// Action: one thing that one rank does in a step. A schedule is lists of these (law 12): the list
/// that the executor runs is the list that the validator checks, the simulator replays and the
/// pictures show.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/ids.h"

namespace brigade::schedule {

enum class ActionKind : uint8_t {
  kForward,            ///< stage's forward of one microbatch
  kBackward,           ///< its backward: input and weight gradients
  kSendActivation,     ///< output of `stage` to the rank of `stage + 1`
  kReceiveActivation,  ///< input of `stage` from the rank of `stage - 1`
  kSendGradient,       ///< gradient of the input of `stage` to the rank of `stage - 1`
  kReceiveGradient,    ///< gradient of the output of `stage` from the rank of `stage + 1`
  kUnshard,            ///< begins to gather a unit's weights for the compute that needs them
  kReshard,            ///< frees a unit's gathered weights
  kReduceUnit,         ///< begins to reduce a unit's gradients over the data axes
  kReduceGradients,    ///< of all units over the data axes: ends what kReduceUnit began
  kExchangeTied,       ///< gradients of tied parameters to the owner's stage
  kGradientNorm,       ///< global norm over all ranks, and the decision to go on, skip or stop
  kOptimizerStep,      ///< clip and update the shards
  kGatherParameters,   ///< new weights to all data ranks (ZeRO 1, 2), and tied weights to their
                       ///< other uses
};

/// How every rank ends a step, in this order.
inline constexpr std::array kTail = {ActionKind::kReduceGradients,
                                     ActionKind::kExchangeTied,
                                     ActionKind::kGradientNorm,
                                     ActionKind::kOptimizerStep,
                                     ActionKind::kGatherParameters};

/// PyTorch's spelling where it has one: "F", "B", "SEND_F", "RECV_F", "SEND_B", "RECV_B",
/// "UNSHARD", "RESHARD", "REDUCE_GRAD"; ours for the rest: "END_REDUCE", "EXCHANGE_TIED", "NORM",
/// "OPT_STEP", "GATHER_PARAMS".
std::string_view to_string(ActionKind kind);

/// Forward or backward.
bool is_compute(ActionKind kind);
bool is_send(ActionKind kind);
bool is_receive(ActionKind kind);
/// Of a unit's weights or gradients: kUnshard, kReshard, kReduceUnit.
bool is_of_unit(ActionKind kind);
/// One of kTail.
bool is_tail(ActionKind kind);

struct Action {
  int64_t id = -1;  ///< unique in the schedule
  ActionKind kind = ActionKind::kForward;
  StageId stage;            ///< none (-1) for actions of the whole rank
  MicrobatchId microbatch;  ///< none (-1) for actions of the whole step
  int64_t unit = -1;  ///< of the stage, in forward order; -1 where stages are not divided (units.h)
  int64_t peer = -1;  ///< pipeline rank at the other end of a send or receive
  std::vector<int64_t> dependencies;  ///< ids of actions that must be done before, on any rank

  bool operator==(const Action&) const = default;
};

/// "0F3", "1B3", "0SEND_F3", "1RECV_F3", "1SEND_B3", "0RECV_B3", "END_REDUCE", "NORM", ... :
/// PyTorch's spelling where it has one, so that its schedule files can be read. (Its SEND_F of
/// stage s sends the output of s, as ours does; its RECV_F of s receives the input of s.) Unit 2
/// of a stage: "0F3.2", "0UNSHARD.2", "0REDUCE_GRAD.2".
std::string to_string(const Action& action);

/// What both ends of a point-to-point message agree on, and all that matches a receive with its
/// send. (stage, microbatch, direction) is the message's tag: `stage` is the sender's.
struct Message {
  ActionKind direction = ActionKind::kSendActivation;  ///< the sending kind
  StageId stage;
  MicrobatchId microbatch;

  auto operator<=>(const Message&) const = default;
};

/// The message that a send or a receive moves. Needs is_send or is_receive.
Message message_of(const Action& action);

/// The message of the send that a compute action feeds, and of the receive that feeds it, where the
/// neighbour stage is on another rank. Needs is_compute.
Message message_out(const Action& compute);
Message message_in(const Action& compute);

}  // namespace brigade::schedule
