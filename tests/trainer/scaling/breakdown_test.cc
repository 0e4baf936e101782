// SPDX-License-Identifier: Apache-2.0
// Spans by hand, whose answer is arithmetic; and any spans that nest.
#include "trainer/scaling/breakdown.h"

#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "tests/trainer/scaling/hand_made.h"
#include "trainer/scaling/step_pieces.h"

namespace brigade::scaling {
namespace {

using testing::HandMade;
using testing::one_f_one_b;

using Parts = std::vector<std::pair<Part, double>>;

/// Each named part has its milliseconds, all others none, and all together are the step.
void expect_parts(const StepBreakdown& step, size_t rank, const Parts& expected) {
  Breakdown all = {};
  double sum = 0;
  for (const auto& [part, ms] : expected) {
    all[static_cast<size_t>(part)] = ms;
    sum += ms;
  }
  for (size_t part = 0; part < kParts; ++part) {
    EXPECT_NEAR(step.by_rank.at(rank)[part], all[part], 1e-9)
        << to_string(static_cast<Part>(part)) << " of rank " << rank;
  }
  EXPECT_NEAR(step.step_ms.at(rank), sum, 1e-9) << "rank " << rank;
}

StepBreakdown only_step(const std::vector<RankTimeline>& timelines) {
  const Result<std::vector<StepBreakdown>> steps = break_down(timelines);
  EXPECT_TRUE(steps) << (steps ? "" : steps.error().text);
  EXPECT_EQ(steps.value().size(), 1U);
  return steps.value().at(0);
}

HandMade one_of_two(int64_t rank, const std::string& group) {
  HandMade made(rank, 2);
  made.group(group, {0, 1});
  return made;
}

TEST(Breakdown, WhatOneRankDoesIsItsPartAndTheRestIsIdle) {
  HandMade rank(0, 1);
  rank.does(Activity::kLoading, 0, 5)
      .does(Activity::kForward, 5, 45)
      .does(Activity::kBackward, 45, 85)
      .does(Activity::kReduce, 85, 86)
      .does(Activity::kNorm, 86, 89)
      .does(Activity::kUpdate, 89, 97)
      .does(Activity::kGather, 97, 98)
      .step(3, 0, 100);
  const StepBreakdown step = only_step({rank});
  EXPECT_EQ(step.step, 3);
  EXPECT_EQ(step.uncut_waits, 0);
  expect_parts(step,
               0,
               {{Part::kLoading, 5},
                {Part::kCompute, 80},
                {Part::kData, 1},
                {Part::kOptimizer, 11},
                {Part::kZero, 1},
                {Part::kIdle, 2}});
}

TEST(Breakdown, AnInstantBelongsToTheInnermostSpan) {
  const auto rank = [](int64_t r) {
    return one_of_two(r, "tp")
        .operation(Activity::kAllReduce, 0, 0, {10, 11, 20, 23})
        .does(Activity::kForward, 0, 50)
        .step(1, 0, 60);
  };
  const StepBreakdown step = only_step({rank(0), rank(1)});
  for (const size_t r : {0U, 1U}) {
    expect_parts(step, r, {{Part::kCompute, 46}, {Part::kTensor, 4}, {Part::kIdle, 10}});
  }
}

TEST(Breakdown, OnlyWhatComputeDoesNotHideIsExposed) {
  // A gather of 30 ms, of which 24 pass behind a forward.
  const auto rank = [](int64_t r) {
    return one_of_two(r, "dp_shard")
        .does(Activity::kForward, 1, 25)
        .operation(Activity::kAllGather, 0, 0, {0, 1, 25, 30})
        .step(1, 0, 30);
  };
  const StepBreakdown step = only_step({rank(0), rank(1)});
  expect_parts(step, 0, {{Part::kCompute, 24}, {Part::kZero, 6}});
}

TEST(Breakdown, WaitingForASlowerRankIsIdlenessUntilItHasPosted) {
  const auto rank = [](int64_t r, double posts) {
    return one_of_two(r, "dp_replicate·dp_shard")
        .does(Activity::kBackward, 0, posts)
        .operation(Activity::kReduceScatter, 0, 0, {posts, posts + 1, posts + 1, 66})
        .step(1, 0, 66);
  };
  const StepBreakdown step = only_step({rank(0, 40), rank(1, 60)});
  expect_parts(step, 0, {{Part::kCompute, 40}, {Part::kIdle, 19}, {Part::kData, 7}});
  expect_parts(step, 1, {{Part::kCompute, 60}, {Part::kData, 6}});
}

TEST(Breakdown, OfTwoStagesTheBubbleIsWhatOneForwardOneBackwardSaysItIs) {
  const StepBreakdown step = only_step(one_f_one_b());
  EXPECT_EQ(step.uncut_waits, 0);
  expect_parts(step,
               0,
               {{Part::kCompute, 60},
                {Part::kBubble, 30},
                {Part::kPipeline, 4},
                {Part::kOptimizer, 5},
                {Part::kIdle, 1}});
  expect_parts(step,
               1,
               {{Part::kCompute, 60},
                {Part::kBubble, 32},
                {Part::kPipeline, 2},
                {Part::kOptimizer, 5},
                {Part::kIdle, 1}});
}

TEST(Breakdown, WithoutStagesTheEndOfAStepHasNoBubble) {
  const auto rank = [](int64_t r, double posts) {
    return one_of_two(r, "world")
        .does(Activity::kBackward, 0, posts)
        .operation(Activity::kAllReduce, 0, 0, {posts, posts, posts, 62})
        .step(1, 0, 62);
  };
  const StepBreakdown step = only_step({rank(0, 40), rank(1, 60)});
  expect_parts(step, 0, {{Part::kCompute, 40}, {Part::kIdle, 22}});
}

TEST(Breakdown, AllRanksShareTheStepFromTheFirstBeginningToTheLastEnd) {
  HandMade early(0, 2);
  early.does(Activity::kForward, 0, 50)
      .step(1, 0, 50)
      .does(Activity::kForward, 55, 80)
      .step(2, 52, 90);
  HandMade late(1, 2);
  late.does(Activity::kForward, 10, 60)
      .step(1, 10, 60)
      .does(Activity::kForward, 62, 90)
      .step(2, 62, 90);
  const std::vector<StepBreakdown> steps = break_down({early, late}).value();
  ASSERT_EQ(steps.size(), 2U);
  expect_parts(steps[0], 0, {{Part::kCompute, 50}, {Part::kIdle, 10}});
  expect_parts(steps[0], 1, {{Part::kCompute, 50}, {Part::kIdle, 10}});
  expect_parts(steps[1], 0, {{Part::kCompute, 25}, {Part::kIdle, 13}});
  expect_parts(steps[1], 1, {{Part::kCompute, 28}, {Part::kIdle, 10}});
}

TEST(Breakdown, AnOperationBegunInTheStepBeforeCountsWhereItIsWaitedFor) {
  const auto rank = [](int64_t r) {
    return one_of_two(r, "dp_shard")
        .step(1, 0, 10)
        .operation(Activity::kAllGather, 0, 0, {8, 9, 20, 24})
        .step(2, 10, 30);
  };
  const std::vector<StepBreakdown> steps = break_down({rank(0), rank(1)}).value();
  expect_parts(steps[0], 0, {{Part::kZero, 1}, {Part::kIdle, 9}});
  expect_parts(steps[1], 0, {{Part::kZero, 4}, {Part::kIdle, 16}});
}

TEST(Breakdown, AWaitForAPeerWhoseSpanIsMissingIsNotCutButCounted) {
  HandMade rank = one_of_two(0, "pp");
  rank.message(Activity::kReceive, 1, 5, {0, 0, 10, 30})
      .operation(Activity::kBarrier, 0, 0, {30, 30, 30, 35})
      .step(1, 0, 40);
  const StepBreakdown step = only_step({rank, one_of_two(1, "pp").step(1, 0, 40)});
  EXPECT_EQ(step.uncut_waits, 2);
  expect_parts(step, 0, {{Part::kPipeline, 25}, {Part::kIdle, 15}});
}

TEST(Breakdown, BetweenMachinesNoWaitIsCutAndEachRankHasItsOwnStep) {
  std::vector<RankTimeline> timelines = one_f_one_b();
  timelines[1].clock = "another";
  for (TimedSpan& span : timelines[1].spans) {
    for (int64_t* time : {&span.begin_ns, &span.posted_ns, &span.wait_ns, &span.end_ns}) {
      *time += testing::ns_of(1e6);
    }
  }
  EXPECT_FALSE(clocks_agree(timelines));
  const StepBreakdown step = only_step(timelines);
  EXPECT_EQ(step.uncut_waits, 0) << "nothing is missing";
  expect_parts(
      step,
      0,
      {{Part::kCompute, 60}, {Part::kPipeline, 34}, {Part::kOptimizer, 5}, {Part::kIdle, 1}});
  expect_parts(
      step,
      1,
      {{Part::kCompute, 60}, {Part::kPipeline, 12}, {Part::kOptimizer, 5}, {Part::kIdle, 23}});
}

TEST(Breakdown, ClocksWithoutANameDoNotAgree) {
  std::vector<RankTimeline> timelines = one_f_one_b();
  EXPECT_TRUE(clocks_agree(timelines));
  timelines[0].clock = "";
  timelines[1].clock = "";
  EXPECT_FALSE(clocks_agree(timelines));
  timelines.pop_back();
  EXPECT_TRUE(clocks_agree(timelines)) << "one agrees with itself";
}

TEST(Breakdown, OperationsOfOneRankAloneBelongToWhatIsAroundThem) {
  HandMade rank(0, 1);
  rank.group("tp", {0})
      .operation(Activity::kAllReduce, 0, 0, {5, 7, 8, 9})
      .does(Activity::kForward, 0, 20)
      .step(1, 0, 20);
  expect_parts(only_step({rank}), 0, {{Part::kCompute, 20}});
}

TEST(Breakdown, LeavesOutStepsThatAreNotWholeOnEveryRank) {
  HandMade forgot(0, 2);
  forgot.lost_until(5).step(1, 0, 10).step(2, 10, 20).step(3, 20, 30);
  HandMade stopped(1, 2);
  stopped.step(1, 0, 10).step(2, 10, 20);
  const StepBreakdown step = only_step({forgot, stopped});
  EXPECT_EQ(step.step, 2);
}

TEST(Breakdown, RefusesTimelinesThatAreNotOfAllRanks) {
  const Result<std::vector<StepBreakdown>> swapped =
      break_down({one_f_one_b()[1], one_f_one_b()[0]});
  ASSERT_FALSE(swapped);
  EXPECT_EQ(swapped.error().code, ErrorCode::kData);
  EXPECT_EQ(swapped.error().text,
            "a breakdown needs the timelines of all ranks in their order: number 0 of 2 is of rank "
            "1 of 2");
  EXPECT_FALSE(break_down({one_f_one_b()[0]}));
}

TEST(Breakdown, RefusesTimelinesWithoutAWholeStep) {
  const Result<std::vector<StepBreakdown>> nothing = break_down({HandMade(0, 1)});
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, ErrorCode::kData);
  EXPECT_NE(nothing.error().text.find("no step is whole"), std::string::npos);
  EXPECT_FALSE(break_down({}));
}

TEST(Breakdown, AStepsStretchesFollowOneAnotherAndSayWhatTheyAre) {
  const auto ranks = stretches_of(one_f_one_b(), 7).value();
  ASSERT_EQ(ranks.size(), 2U);
  const std::vector<Stretch>& last = ranks[1];
  ASSERT_EQ(last.size(), 9U);
  EXPECT_EQ(last[0].part, Part::kBubble);
  EXPECT_EQ(last[0].label, "receive pp 2.0 KiB");
  EXPECT_DOUBLE_EQ(last[0].end_ms, 10);
  EXPECT_EQ(last[1].part, Part::kPipeline);
  EXPECT_DOUBLE_EQ(last[1].end_ms, 12);
  EXPECT_EQ(last[2].label, "forward");
  EXPECT_EQ(last[2].microbatch, 0);
  EXPECT_EQ(last[5].label, "backward");
  EXPECT_EQ(last[5].microbatch, 1);
  for (const std::vector<Stretch>& rank : ranks) {
    EXPECT_DOUBLE_EQ(rank.front().begin_ms, 0);
    EXPECT_DOUBLE_EQ(rank.back().end_ms, 100);
    for (size_t i = 1; i < rank.size(); ++i) {
      EXPECT_DOUBLE_EQ(rank[i - 1].end_ms, rank[i].begin_ms);
    }
  }
}

TEST(Breakdown, NamesTheStepsThereAreWhenAskedForAnother) {
  const auto none = stretches_of(one_f_one_b(), 8);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().text, "the timelines hold no whole step 8; they hold steps 7 to 7");
}

TEST(Breakdown, MeansAndMediansAreOverTheStepsOfEachRank) {
  HandMade rank(0, 1);
  rank.does(Activity::kForward, 0, 10)
      .step(1, 0, 12)
      .does(Activity::kForward, 20, 31)
      .step(2, 20, 34);
  rank.does(Activity::kForward, 40, 70).step(3, 40, 70);
  const std::vector<StepBreakdown> steps = break_down({rank}).value();
  const auto compute = static_cast<size_t>(Part::kCompute);
  const auto idle = static_cast<size_t>(Part::kIdle);
  EXPECT_NEAR(mean_by_rank(steps).at(0)[compute], 17, 1e-9);
  EXPECT_NEAR(mean_by_rank(steps).at(0)[idle], 5.0 / 3, 1e-9);
  EXPECT_NEAR(median_by_rank(steps).at(0)[compute], 11, 1e-9);
  EXPECT_NEAR(median_by_rank(std::span(steps).first(2)).at(0)[compute], 10.5, 1e-9);
  EXPECT_NEAR(median_by_rank(steps).at(0)[idle], 2, 1e-9);
  EXPECT_TRUE(mean_by_rank({}).empty());
}

/// Spans that nest at random, between `begin` and `end`, of one rank.
class Chance {
 public:
  Chance(int64_t rank, uint32_t seed) : random_(seed) {
    timeline_.rank = rank;
    timeline_.ranks = 3;
    timeline_.clock = "one";
    for (const char* name : {"dp_shard", "tp", "pp", "world", "dp_shard·tp"}) {
      timeline_.groups.push_back({name, {0, 1, 2}, 0});
    }
    timeline_.groups.push_back({"tp", {rank}, 0});
  }

  int64_t between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  void fill(int64_t begin, int64_t end, int depth) {
    int64_t at = begin;
    while (depth > 0 && end - at > 10) {
      const int64_t from = between(at, end);
      const int64_t to = between(from, end);
      add(from, to, depth);
      at = to;
    }
  }

  void step(int32_t number, int64_t begin, int64_t end) {
    fill(begin, end, 4);
    TimedSpan span;
    span.step = number;
    span.begin_ns = span.posted_ns = span.wait_ns = begin;
    span.end_ns = end;
    timeline_.spans.push_back(span);
  }

  const RankTimeline& timeline() const { return timeline_; }

 private:
  void add(int64_t from, int64_t to, int depth) {
    TimedSpan span;
    span.activity = static_cast<Activity>(between(1, kActivities - 1));
    span.begin_ns = from;
    span.end_ns = to;
    if (is_operation(span.activity)) {
      span.group = static_cast<int16_t>(between(-1, 5));
      span.sequence = static_cast<uint32_t>(between(0, 20));
      span.peer = static_cast<int32_t>((timeline_.rank + between(1, 2)) % 3);
      span.tag = static_cast<uint64_t>(between(0, 2));
      span.posted_ns = between(from, to);
      span.wait_ns = between(span.posted_ns, to);
      fill(span.posted_ns, span.wait_ns, depth - 1);
    } else {
      span.posted_ns = span.wait_ns = from;
      fill(from, to, depth - 1);
    }
    timeline_.spans.push_back(span);
  }

  std::mt19937 random_;
  RankTimeline timeline_;
};

TEST(Breakdown, WhateverTheSpansThePartsAddUpToTheStepAndNoneIsNegative) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::vector<RankTimeline> timelines;
    for (int64_t rank = 0; rank < 3; ++rank) {
      Chance chance(rank, seed * 3 + static_cast<uint32_t>(rank));
      const int64_t begin = chance.between(0, 1'000);
      chance.step(1, begin, begin + chance.between(1, 1'000'000));
      chance.step(2, begin + 1'100'000, begin + 2'000'000);
      timelines.push_back(chance.timeline());
    }
    const std::vector<StepBreakdown> steps = break_down(timelines).value();
    ASSERT_EQ(steps.size(), 2U);
    for (const StepBreakdown& step : steps) {
      for (size_t rank = 0; rank < 3; ++rank) {
        const Breakdown& parts = step.by_rank[rank];
        for (const double part : parts) {
          ASSERT_GE(part, 0.0) << seed;
        }
        const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
        ASSERT_NEAR(sum, step.step_ms[rank], 1e-9 * step.step_ms[rank]) << seed;
        const auto stretches = stretches_of(timelines, step.step).value();
        ASSERT_DOUBLE_EQ(stretches[rank].back().end_ms, step.step_ms[rank]);
      }
    }
  }
}

}  // namespace
}  // namespace brigade::scaling
