// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/timeline.h"

#include <chrono>
#include <iostream>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "parallel/base/check.h"

namespace brigade {
namespace {

/// Every reading is ten more than the one before: 10, 20, ...
Timeline::Clock ticking() {
  return [ticks = int64_t{0}]() mutable { return ticks += 10; };
}

TEST(Timeline, NamesEachActivityAndReadsTheNameBack) {
  std::set<std::string_view> names;
  for (int i = 0; i < kActivities; ++i) {
    const auto activity = static_cast<Activity>(i);
    names.insert(to_string(activity));
    EXPECT_EQ(activity_of(to_string(activity)), activity);
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(kActivities));
  EXPECT_FALSE(activity_of("reading").has_value());
  EXPECT_FALSE(is_operation(Activity::kUpdate));
  EXPECT_TRUE(is_operation(Activity::kAllReduce));
  EXPECT_FALSE(is_message(Activity::kBarrier));
  EXPECT_TRUE(is_message(Activity::kReceive));
}

TEST(Timeline, KeepsSpansInTheOrderInWhichTheyEnd) {
  Timeline timeline(8, ticking());
  {
    const TimelineScope step(&timeline, Activity::kStep, {.step = 7});
    const TimelineScope forward(&timeline, Activity::kForward, {.stage = 1, .microbatch = 3});
    const TimelineScope gather(&timeline, Activity::kGather, {.unit = 2});
  }
  const std::vector<TimedSpan> spans = timeline.spans();
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[0].activity, Activity::kGather);
  EXPECT_EQ(spans[0].begin_ns, 30);
  EXPECT_EQ(spans[0].end_ns, 40);
  EXPECT_EQ(spans[1].begin_ns, 20);
  EXPECT_EQ(spans[1].end_ns, 50);
  EXPECT_EQ(spans[2].activity, Activity::kStep);
  EXPECT_EQ(spans[2].begin_ns, 10);
  EXPECT_EQ(spans[2].end_ns, 60);
}

TEST(Timeline, ASpanWithoutAPlaceIsWhereTheOneAroundItIs) {
  Timeline timeline(8, ticking());
  {
    const TimelineScope step(&timeline, Activity::kStep, {.step = 7});
    {
      const TimelineScope forward(&timeline, Activity::kForward, {.stage = 1, .microbatch = 3});
      const TimelineScope gather(&timeline, Activity::kGather, {.unit = 2});
    }
    const TimelineScope update(&timeline, Activity::kUpdate);
  }
  const std::vector<TimedSpan> spans = timeline.spans();
  ASSERT_EQ(spans.size(), 4U);
  EXPECT_EQ(spans[0].step, 7);
  EXPECT_EQ(spans[0].stage, 1);
  EXPECT_EQ(spans[0].unit, 2);
  EXPECT_EQ(spans[0].microbatch, 3);
  EXPECT_EQ(spans[1].unit, -1) << "what lies within is not what lies around";
  EXPECT_EQ(spans[2].activity, Activity::kUpdate);
  EXPECT_EQ(spans[2].step, 7);
  EXPECT_EQ(spans[2].microbatch, -1);
  EXPECT_EQ(timeline.place().step, -1);
}

TEST(Timeline, OverwritesTheOldestAndSaysUpToWhenItForgot) {
  Timeline timeline(3, ticking());
  EXPECT_EQ(timeline.lost_until_ns(), Timeline::kNothingLost);
  for (int32_t i = 0; i < 5; ++i) {
    const TimelineScope span(&timeline, Activity::kForward, {.microbatch = i});
  }
  const std::vector<TimedSpan> spans = timeline.spans();
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[0].microbatch, 2);
  EXPECT_EQ(spans[2].microbatch, 4);
  EXPECT_EQ(timeline.overwritten(), 2);
  EXPECT_EQ(timeline.lost_until_ns(), 40) << "the end of the second";
}

TEST(Timeline, TellsEqualGroupsApart) {
  Timeline timeline;
  EXPECT_EQ(timeline.add_group("tp", {0, 1}), 0);
  EXPECT_EQ(timeline.add_group("tp", {2, 3}), 1);
  EXPECT_EQ(timeline.add_group("tp", {0, 1}), 2);
  EXPECT_EQ(timeline.groups()[1].ordinal, 0);
  EXPECT_EQ(timeline.groups()[2], (TimelineGroup{"tp", {0, 1}, 1}));
}

TEST(Timeline, GivesNoGroupBeyondItsMost) {
  Timeline timeline(1);
  for (size_t i = 0; i < Timeline::kMaxGroups; ++i) {
    ASSERT_EQ(timeline.add_group("tp", {static_cast<int64_t>(i)}), static_cast<int16_t>(i));
  }
  EXPECT_EQ(timeline.add_group("one too many", {}), -1);
  EXPECT_EQ(timeline.groups().size(), Timeline::kMaxGroups);
}

TEST(Timeline, BelongsToTheThreadThatMadeIt) {
  const Timeline timeline(1);
  EXPECT_TRUE(timeline.on_own_thread());
  bool there = true;
  std::thread([&] { there = timeline.on_own_thread(); }).join();
  EXPECT_FALSE(there);
}

TEST(Timeline, ANullTimelineRecordsNothing) {
  EXPECT_NO_THROW(TimelineScope(nullptr, Activity::kForward, {.step = 1}));
}

TEST(Timeline, NeedsRoomForOneSpan) {
  EXPECT_THROW(Timeline(0), CheckFailure);
}

TEST(Timeline, ReadsAClockThatIsSharedAndNeverGoesBack) {
  Timeline timeline;
  constexpr int kSpans = 200'000;
  const auto before = std::chrono::steady_clock::now();
  for (int32_t i = 0; i < kSpans; ++i) {
    const TimelineScope span(&timeline, Activity::kForward, {.microbatch = i});
  }
  const auto after = std::chrono::steady_clock::now();
  std::cout << "a span costs "
            << std::chrono::duration<double, std::nano>(after - before).count() / kSpans << " ns\n";
  const std::vector<TimedSpan> spans = timeline.spans();
  EXPECT_EQ(spans.size(), Timeline::kDefaultCapacity);
  EXPECT_GE(spans.front().begin_ns, before.time_since_epoch() / std::chrono::nanoseconds(1));
  EXPECT_LE(spans.back().end_ns, after.time_since_epoch() / std::chrono::nanoseconds(1));
  for (size_t i = 1; i < spans.size(); ++i) {
    ASSERT_LE(spans[i - 1].end_ns, spans[i].begin_ns);
  }
}

}  // namespace
}  // namespace brigade
