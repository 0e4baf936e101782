// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/attribution.h"

#include <gtest/gtest.h>

namespace brigade::scaling {
namespace {

Part exposed(Activity operation, const std::string& name) {
  return exposed_part(operation, {name, {0, 1}, 0});
}

TEST(Attribution, EveryActivityThatIsNoOperationIsAPart) {
  EXPECT_EQ(part_of(Activity::kForward), Part::kCompute);
  EXPECT_EQ(part_of(Activity::kBackward), Part::kCompute);
  EXPECT_EQ(part_of(Activity::kReduce), Part::kData);
  EXPECT_EQ(part_of(Activity::kGather), Part::kZero);
  EXPECT_EQ(part_of(Activity::kMessage), Part::kPipeline);
  EXPECT_EQ(part_of(Activity::kNorm), Part::kOptimizer);
  EXPECT_EQ(part_of(Activity::kUpdate), Part::kOptimizer);
  EXPECT_EQ(part_of(Activity::kLoading), Part::kLoading);
  EXPECT_EQ(part_of(Activity::kStep), Part::kIdle);
}

TEST(Attribution, AnOperationIsCommunicationOfTheAxesThatNameItsGroup) {
  EXPECT_EQ(exposed(Activity::kAllReduce, "tp"), Part::kTensor);
  EXPECT_EQ(exposed(Activity::kAllGather, "tp"), Part::kTensor);
  EXPECT_EQ(exposed(Activity::kReceive, "pp"), Part::kPipeline);
  EXPECT_EQ(exposed(Activity::kReduceScatter, "dp_shard"), Part::kData);
  EXPECT_EQ(exposed(Activity::kAllReduce, "dp_replicate·dp_shard"), Part::kData);
  EXPECT_EQ(exposed(Activity::kAllGather, "dp_replicate·dp_shard"), Part::kZero);
  EXPECT_EQ(exposed(Activity::kAllReduce, "dp_replicate·dp_shard·tp"), Part::kData);
}

TEST(Attribution, AGroupThatIsNoPartOfTheMathsIsIdle) {
  EXPECT_EQ(exposed(Activity::kAllReduce, "world"), Part::kIdle);
  EXPECT_EQ(exposed(Activity::kAllGather, "memory"), Part::kIdle);
  EXPECT_EQ(exposed(Activity::kAllReduce, "pp·dp_replicate·dp_shard·tp"), Part::kIdle);
  EXPECT_EQ(exposed(Activity::kAllReduce, ""), Part::kIdle);
}

TEST(Attribution, OnlyAcrossStagesIsWaitingABubble) {
  const TimelineGroup pp = {"pp", {0, 1}, 0};
  const TimelineGroup tp = {"tp", {0, 1}, 0};
  const TimelineGroup world = {"world", {0, 1}, 0};
  EXPECT_EQ(waiting_part(Activity::kReceive, pp, true), Part::kBubble);
  EXPECT_EQ(waiting_part(Activity::kAllReduce, world, true), Part::kBubble);
  EXPECT_EQ(waiting_part(Activity::kAllReduce, world, false), Part::kIdle);
  EXPECT_EQ(waiting_part(Activity::kAllReduce, tp, true), Part::kIdle);
}

TEST(Attribution, ThereAreStagesWhereTheirGroupHasMoreThanOneRank) {
  RankTimeline timeline;
  timeline.groups = {{"pp", {0}, 0}, {"tp", {0, 1}, 0}};
  EXPECT_FALSE(has_stages({timeline}));
  timeline.groups.push_back({"pp", {0, 1}, 0});
  EXPECT_TRUE(has_stages({RankTimeline{}, timeline}));
}

TEST(Attribution, LabelsSayActivityGroupAndSize) {
  TimedSpan span;
  span.activity = Activity::kForward;
  EXPECT_EQ(label_of(span, {}), "forward");
  span.activity = Activity::kAllGather;
  EXPECT_EQ(label_of(span, {}), "all_gather");
  span.group = 1;
  span.bytes = 1'258'291;
  EXPECT_EQ(label_of(span, {{"tp", {}, 0}, {"dp_shard", {}, 0}}), "all_gather dp_shard 1.2 MiB");
}

}  // namespace
}  // namespace brigade::scaling
