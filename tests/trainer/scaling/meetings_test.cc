// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/meetings.h"

#include <gtest/gtest.h>

#include "tests/trainer/scaling/hand_made.h"

namespace brigade::scaling {
namespace {

using testing::HandMade;
using testing::ns_of;

RankTimeline with(int64_t rank, double posts, uint32_t sequence, const std::string& name = "tp") {
  return HandMade(rank, 2)
      .group("other", {0, 1})
      .group(name, {0, 1})
      .operation(Activity::kAllReduce, 1, sequence, {posts, posts, posts, 90});
}

TEST(Meetings, ACollectiveCouldMoveWhenItsLastMemberHadBegunToPostIt) {
  const std::vector<RankTimeline> timelines = {with(0, 10, 3), with(1, 25, 3)};
  const Meetings meetings(timelines);
  EXPECT_EQ(meetings.could_move_ns(0, timelines[0].spans[0]), ns_of(25));
  EXPECT_EQ(meetings.could_move_ns(1, timelines[1].spans[0]), ns_of(25));
}

TEST(Meetings, GroupsMeetByWhatTheyAreNotByTheirPlaceInATable) {
  std::vector<RankTimeline> timelines = {with(0, 10, 3), with(1, 25, 3)};
  std::swap(timelines[1].groups[0], timelines[1].groups[1]);
  timelines[1].spans[0].group = 0;
  EXPECT_EQ(Meetings(timelines).could_move_ns(0, timelines[0].spans[0]), ns_of(25));
  timelines[1].groups[0].ordinal = 1;
  EXPECT_FALSE(Meetings(timelines).could_move_ns(0, timelines[0].spans[0]).has_value());
}

TEST(Meetings, AnotherNumberIsAnotherOperation) {
  const std::vector<RankTimeline> timelines = {with(0, 10, 3), with(1, 25, 4)};
  const Meetings meetings(timelines);
  EXPECT_FALSE(meetings.could_move_ns(0, timelines[0].spans[0]).has_value());
}

TEST(Meetings, AMessageCouldMoveWhenItsSenderHadBegunToPostIt) {
  std::vector<RankTimeline> timelines = {
      HandMade(0, 2).group("pp", {0, 1}).message(Activity::kSend, 1, 5, {30, 31, 31, 31}),
      HandMade(1, 2).group("pp", {0, 1}).message(Activity::kReceive, 0, 5, {1, 2, 20, 33})};
  const TimedSpan& receive = timelines[1].spans[0];
  {
    const Meetings meetings(timelines);
    EXPECT_EQ(meetings.could_move_ns(1, receive), ns_of(30));
    EXPECT_EQ(meetings.could_move_ns(0, timelines[0].spans[0]), ns_of(30)) << "its own";
    EXPECT_EQ(meetings.sender_of(1, receive), &timelines[0].spans[0]);
  }
  for (const auto& change : std::vector<void (*)(TimedSpan&)>{
           [](TimedSpan& span) { span.tag = 6; },
           [](TimedSpan& span) { span.sequence = 1; },
           [](TimedSpan& span) { span.peer = 0; },
           [](TimedSpan& span) { span.activity = Activity::kReceive; }}) {
    std::vector<RankTimeline> changed = timelines;
    change(changed[0].spans[0]);
    const Meetings meetings(changed);
    EXPECT_EQ(meetings.sender_of(1, changed[1].spans[0]), nullptr);
    EXPECT_FALSE(meetings.could_move_ns(1, changed[1].spans[0]).has_value());
  }
}

TEST(Meetings, AnOperationOfNoGroupMeetsNobody) {
  std::vector<RankTimeline> timelines = {with(0, 10, 3), with(1, 25, 3)};
  timelines[0].spans[0].group = -1;
  const Meetings meetings(timelines);
  EXPECT_FALSE(meetings.could_move_ns(0, timelines[0].spans[0]).has_value());
  EXPECT_EQ(meetings.sender_of(0, timelines[0].spans[0]), nullptr);
  EXPECT_FALSE(meetings.could_move_ns(1, timelines[1].spans[0]).has_value());
}

}  // namespace
}  // namespace brigade::scaling
