// SPDX-License-Identifier: Apache-2.0
#include "parallel/schedule/action.h"

#include <gtest/gtest.h>

#include "parallel/base/check.h"

namespace brigade::schedule {
namespace {

Action make(ActionKind kind, int64_t stage, int64_t microbatch) {
  Action action;
  action.kind = kind;
  action.stage = StageId(stage);
  action.microbatch = MicrobatchId(microbatch);
  return action;
}

TEST(Action, IsSpelledAsPyTorchSpellsIt) {
  EXPECT_EQ(to_string(make(ActionKind::kForward, 0, 3)), "0F3");
  EXPECT_EQ(to_string(make(ActionKind::kBackward, 11, 30)), "11B30");
  EXPECT_EQ(to_string(make(ActionKind::kSendActivation, 0, 3)), "0SEND_F3");
  EXPECT_EQ(to_string(make(ActionKind::kReceiveActivation, 1, 3)), "1RECV_F3");
  EXPECT_EQ(to_string(make(ActionKind::kSendGradient, 1, 3)), "1SEND_B3");
  EXPECT_EQ(to_string(make(ActionKind::kReceiveGradient, 0, 3)), "0RECV_B3");
  EXPECT_EQ(to_string(make(ActionKind::kReduceGradients, -1, -1)), "END_REDUCE");
}

TEST(Action, ReceiveNamesTheMessageThatItsSendNames) {
  EXPECT_EQ(message_of(make(ActionKind::kReceiveActivation, 2, 5)),
            message_of(make(ActionKind::kSendActivation, 1, 5)));
  EXPECT_EQ(message_of(make(ActionKind::kReceiveGradient, 1, 5)),
            message_of(make(ActionKind::kSendGradient, 2, 5)));
  EXPECT_NE(message_of(make(ActionKind::kReceiveGradient, 1, 5)),
            message_of(make(ActionKind::kSendActivation, 2, 5)));
}

TEST(Action, ComputeNamesTheMessagesAroundIt) {
  const Action forward = make(ActionKind::kForward, 1, 5);
  EXPECT_EQ(message_in(forward), message_of(make(ActionKind::kReceiveActivation, 1, 5)));
  EXPECT_EQ(message_out(forward), message_of(make(ActionKind::kSendActivation, 1, 5)));
  const Action backward = make(ActionKind::kBackward, 1, 5);
  EXPECT_EQ(message_in(backward), message_of(make(ActionKind::kReceiveGradient, 1, 5)));
  EXPECT_EQ(message_out(backward), message_of(make(ActionKind::kSendGradient, 1, 5)));
}

TEST(Action, HasNoMessageUnlessItIsATransfer) {
  EXPECT_THROW(message_of(make(ActionKind::kForward, 0, 0)), CheckFailure);
  EXPECT_THROW(message_in(make(ActionKind::kSendGradient, 1, 0)), CheckFailure);
}

}  // namespace
}  // namespace brigade::schedule
