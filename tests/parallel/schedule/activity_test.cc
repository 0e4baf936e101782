// SPDX-License-Identifier: Apache-2.0
#include "parallel/schedule/activity.h"

#include <gtest/gtest.h>

#include "parallel/base/check.h"

namespace brigade::schedule {
namespace {

TEST(ScheduleActivity, OfEveryActionIsWhatTheRankDoesThenBesideItsOperations) {
  EXPECT_EQ(activity_of(ActionKind::kForward), Activity::kForward);
  EXPECT_EQ(activity_of(ActionKind::kBackward), Activity::kBackward);
  EXPECT_EQ(activity_of(ActionKind::kUnshard), Activity::kGather);
  EXPECT_EQ(activity_of(ActionKind::kReduceUnit), Activity::kReduce);
  EXPECT_EQ(activity_of(ActionKind::kReduceGradients), Activity::kReduce);
  EXPECT_EQ(activity_of(ActionKind::kGatherParameters), Activity::kGather);
  EXPECT_EQ(activity_of(ActionKind::kGradientNorm), Activity::kNorm);
  EXPECT_EQ(activity_of(ActionKind::kOptimizerStep), Activity::kUpdate);
  for (int i = 0; i <= static_cast<int>(ActionKind::kGatherParameters); ++i) {
    const auto kind = static_cast<ActionKind>(i);
    const Activity activity = activity_of(kind);
    EXPECT_FALSE(is_operation(activity)) << to_string(kind);
    EXPECT_NE(activity, Activity::kStep) << to_string(kind);
    EXPECT_EQ(activity == Activity::kMessage,
              is_send(kind) || is_receive(kind) || kind == ActionKind::kExchangeTied)
        << to_string(kind);
  }
  EXPECT_THROW(activity_of(static_cast<ActionKind>(99)), CheckFailure);
}

TEST(ScheduleActivity, PlacesAreWhatTheActionNames) {
  Action action;
  action.stage = StageId(1);
  action.microbatch = MicrobatchId(3);
  action.unit = 2;
  EXPECT_EQ(place_of(action).step, -1);
  EXPECT_EQ(place_of(action).stage, 1);
  EXPECT_EQ(place_of(action).unit, 2);
  EXPECT_EQ(place_of(action).microbatch, 3);
  EXPECT_EQ(place_of(Action{}).stage, -1);
  EXPECT_EQ(place_of(Action{}).microbatch, -1);
}

}  // namespace
}  // namespace brigade::schedule
