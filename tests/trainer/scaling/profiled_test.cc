// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/profiled.h"

#include <numeric>

#include <gtest/gtest.h>

#include "tests/trainer/scaling/hand_made.h"

namespace brigade::scaling {
namespace {

using testing::HandMade;
using Bytes = std::map<std::string, int64_t>;

struct MadeStep {
  double ms = 0;
  double compute = 0;
};

/// Steps one after another, on each of `ranks` alike.
Profile profile_of(int64_t ranks, const std::vector<MadeStep>& steps) {
  Profile profile;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    HandMade made(rank, ranks);
    double now = 0;
    int32_t number = 0;
    for (const MadeStep& step : steps) {
      made.does(Activity::kForward, now, now + step.compute).step(++number, now, now + step.ms);
      now += step.ms;
    }
    profile.timelines.push_back(made);
    profile.ranks.push_back({.peak_bytes = 100 + rank, .bytes_by_axis = {{"tp", 1.5}}});
  }
  return profile;
}

double length_of(const std::vector<Stretch>& stretches) {
  return stretches.empty() ? 0 : stretches.back().end_ms;
}

double part_of(const PointResult& result, size_t rank, Part part) {
  return result.breakdown_by_rank.at(rank)[static_cast<size_t>(part)];
}

TEST(Profiled, TimesAreMeansOverAllStepsOfAllRepeats) {
  PointResult result;
  add_profiles(result,
               {profile_of(2, {{10, 6}, {20, 14}}), profile_of(2, {{12, 6}, {30, 20}, {20, 9}})});
  ASSERT_EQ(result.breakdown_by_rank.size(), 2U);
  for (size_t rank = 0; rank < 2; ++rank) {
    EXPECT_NEAR(part_of(result, rank, Part::kCompute), 11, 1e-9);
    EXPECT_NEAR(part_of(result, rank, Part::kIdle), 7.4, 1e-9);
    const Breakdown& parts = result.breakdown_by_rank[rank];
    EXPECT_NEAR(std::accumulate(parts.begin(), parts.end(), 0.0), 18.4, 1e-9 * 18.4);
  }
}

TEST(Profiled, TheStepToLookAtIsTheMiddleOneOfTheLastRepeat) {
  PointResult result;
  add_profiles(
      result,
      {profile_of(2, {{1, 1}}), profile_of(2, {{12, 6}, {30, 20}, {20, 9}, {11, 1}, {40, 1}})});
  ASSERT_EQ(result.one_step.size(), 2U);
  for (const std::vector<Stretch>& rank : result.one_step) {
    EXPECT_NEAR(length_of(rank), 20, 1e-9);
    EXPECT_EQ(rank.at(0).part, Part::kCompute);
    EXPECT_NEAR(rank.at(0).end_ms, 9, 1e-9);
  }
}

TEST(Profiled, MemoryIsTheMostOfAnyRepeatByRank) {
  PointResult result;
  result.peak_bytes = {900};  // the largest of all ranks, which a run tells without a profile
  Profile first = profile_of(2, {{1, 1}});
  Profile second = first;
  first.ranks[0].peak_bytes = 300;
  second.ranks[1].peak_bytes = 200;
  add_profiles(result, {first, second});
  EXPECT_EQ(result.peak_bytes, (std::vector<int64_t>{300, 200}));
}

TEST(Profiled, BytesAreThoseOfAllRanksInTheLastRepeat) {
  PointResult result;
  result.bytes_by_axis = {{"all", 7}};
  Profile first = profile_of(2, {{1, 1}});
  first.ranks[0].bytes_by_axis = {{"dp", 1e6}};
  Profile last = profile_of(3, {{1, 1}});
  last.ranks.pop_back();
  last.timelines = first.timelines;
  last.ranks[1].bytes_by_axis = {{"tp", 2.5}, {"pp", 4096}};
  add_profiles(result, {first, last});
  EXPECT_EQ(result.bytes_by_axis, (Bytes{{"pp", 4096}, {"tp", 4}}));
}

TEST(Profiled, ThirdsOfBytesAddUpToWholeOnes) {
  PointResult result;
  Profile profile = profile_of(3, {{1, 1}});
  for (RankFacts& rank : profile.ranks) {
    rank.bytes_by_axis = {{"dp_shard", 1000.0 / 3}};
  }
  add_profiles(result, {profile});
  EXPECT_EQ(result.bytes_by_axis, (Bytes{{"dp_shard", 1000}}));
}

TEST(Profiled, LeavesOutAProfileOfAnotherNumberOfRanks) {
  PointResult result;
  Profile stranger = profile_of(3, {{50, 1}});
  stranger.ranks[0].peak_bytes = 5000;
  add_profiles(result, {profile_of(2, {{10, 6}}), stranger});
  EXPECT_EQ(result.peak_bytes, (std::vector<int64_t>{100, 101}));
  EXPECT_EQ(result.bytes_by_axis, (Bytes{{"tp", 3}}));
  ASSERT_EQ(result.breakdown_by_rank.size(), 2U);
  EXPECT_NEAR(part_of(result, 0, Part::kCompute), 6, 1e-9);
  ASSERT_EQ(result.one_step.size(), 2U);
  EXPECT_NEAR(length_of(result.one_step[0]), 10, 1e-9);
}

TEST(Profiled, NoneChangesNothing) {
  PointResult result;
  result.peak_bytes = {900};
  result.bytes_by_axis = {{"all", 7}};
  result.breakdown_by_rank = {Breakdown{1}};
  result.one_step = {{Stretch{}}};
  add_profiles(result, {});
  EXPECT_EQ(result.peak_bytes, (std::vector<int64_t>{900}));
  EXPECT_EQ(result.bytes_by_axis, (Bytes{{"all", 7}}));
  EXPECT_EQ(result.breakdown_by_rank, (std::vector<Breakdown>{Breakdown{1}}));
  EXPECT_EQ(result.one_step.size(), 1U);
}

TEST(Profiled, ATimelineWithoutAWholeStepLeavesTheRest) {
  PointResult result;
  add_profiles(result, {profile_of(2, {})});
  EXPECT_EQ(result.peak_bytes, (std::vector<int64_t>{100, 101}));
  EXPECT_EQ(result.bytes_by_axis, (Bytes{{"tp", 3}}));
  EXPECT_TRUE(result.breakdown_by_rank.empty());
  EXPECT_TRUE(result.one_step.empty());
  add_profiles(result, {profile_of(2, {}), profile_of(2, {{10, 6}}), profile_of(2, {})});
  EXPECT_NEAR(part_of(result, 1, Part::kCompute), 6, 1e-9);
  EXPECT_NEAR(length_of(result.one_step.at(1)), 10, 1e-9);
}

}  // namespace
}  // namespace brigade::scaling
