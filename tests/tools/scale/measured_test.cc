// SPDX-License-Identifier: Apache-2.0
#include "tools/scale/measured.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/tools/scale/hand_made_study.h"
#include "tests/trainer/scaling/hand_made.h"
#include "trainer/scaling/profile_folder.h"
#include "trainer/study/runner.h"

namespace brigade::scale {
namespace {

using scaling::PointResult;
using scaling::Results;
using ::testing::ElementsAre;
using testing::HandMade;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kPeak = 4e9;
constexpr double kTokens = 12 * 16;  // sequences of a step, and their length

// 6 a weight of 4 blocks (attention 4 x 32 x 32, feed-forward 3 x 32 x 64) and the head of 96 x 32,
// and 6 x layers x dim x sequence of attention itself.
constexpr double kFlopsPerToken = 6.0 * (4 * (4 * 32 * 32 + 3 * 32 * 64) + 96 * 32) +  //
                                  6.0 * 4 * 32 * 16;

class Measured : public ::testing::Test {
 protected:
  void finish(size_t point, int64_t repeat, const study::RunResult& result) {
    folder_ = made_.finish(store_, point, repeat, result);
  }

  /// As the last run that was finished leaves it.
  void leave_profile(const std::vector<RankTimeline>& timelines) {
    scaling::Profile profile = {.timelines = timelines, .ranks = {}};
    for (size_t rank = 0; rank < timelines.size(); ++rank) {
      profile.ranks.push_back({.peak_bytes = 10 + static_cast<int64_t>(rank),
                               .bytes_by_axis = {{"dp_replicate", 512}}});
    }
    ASSERT_TRUE(scaling::write_profile(
        study::own_run_folder(folder_) + "/profile_traces/iteration_3", profile));
  }

  Results results() const {
    return value_or_throw(measured(
        made_.grid(), made_.study(), store_, made_.facts(), {{{DType::kFloat32, 1}, kPeak}}));
  }

  const HandMadeStudy made_;
  const study::Store store_ = made_.store();
  std::string folder_;
};

TEST_F(Measured, RatesFollowFromTheMedianStep) {
  finish(made_.index_of(1), 0, {.step_ms = {10, 10}});
  finish(made_.index_of(1), 1, {.step_ms = {10, 10}});
  finish(made_.index_of(2), 0, {.step_ms = {4, 4}});
  const Results found = results();
  const PointResult& one = found.points.at(made_.index_of(1));
  EXPECT_EQ(one.repeats, 2);
  EXPECT_THAT(one.step_ms, SizeIs(4));
  EXPECT_NEAR(one.median_step_ms.value, 10, 1e-12);
  EXPECT_NEAR(one.tokens_per_s.value, kTokens / 10e-3, 1e-6);
  ASSERT_TRUE(one.mfu);
  EXPECT_NEAR(*one.mfu, kFlopsPerToken * kTokens / 10e-3 / kPeak, 1e-12);

  const PointResult& two = found.points.at(made_.index_of(2));
  EXPECT_EQ(two.repeats, 1);
  EXPECT_NEAR(two.tokens_per_s.value, kTokens / 4e-3, 1e-6);
  const double at_once = std::min(2U, std::max(1U, std::thread::hardware_concurrency()));
  ASSERT_TRUE(two.mfu);
  EXPECT_NEAR(*two.mfu, kFlopsPerToken * kTokens / 4e-3 / (kPeak * at_once), 1e-12);
}

TEST_F(Measured, WithoutThePeakThereIsNoShareOfIt) {
  finish(made_.index_of(1), 0, {.step_ms = {10}});
  const Results found =
      value_or_throw(measured(made_.grid(), made_.study(), store_, made_.facts(), {}));
  EXPECT_FALSE(found.points.at(made_.index_of(1)).mfu);
  EXPECT_GT(found.points.at(made_.index_of(1)).tokens_per_s.value, 0);
  EXPECT_THAT(found.peaks, IsEmpty());
}

TEST_F(Measured, APeerHasRatesButNoShareOfThePeak) {
  finish(made_.index_of(1, "other"), 0, {.step_ms = {8}});
  const PointResult peer = results().points.at(made_.index_of(1, "other"));
  EXPECT_NEAR(peer.tokens_per_s.value, kTokens / 8e-3, 1e-6);
  EXPECT_FALSE(peer.mfu);
}

TEST_F(Measured, WhatFailedOrDidNotRunHasNoRates) {
  const size_t fell = made_.index_of(2);
  finish(fell, 0, {.failure = "timed out", .last_lines = {"step 1"}});
  finish(fell, 1, {.failure = "timed out", .last_lines = {"step 1"}});
  const Results found = results();
  EXPECT_EQ(found.points.at(fell).failure, "timed out");
  EXPECT_THAT(found.points.at(fell).last_lines, ElementsAre("step 1"));
  EXPECT_EQ(found.points.at(made_.index_of(1)).failure, "not run");
  for (const PointResult& point : found.points) {
    EXPECT_EQ(point.median_step_ms.value, 0);
    EXPECT_EQ(point.tokens_per_s.value, 0);
    EXPECT_FALSE(point.mfu);
  }
}

TEST_F(Measured, TakesThePartsOfAStepFromTheProfilesOfRunsThatRan) {
  const size_t two = made_.index_of(2);
  finish(two, 0, {.step_ms = {10}});
  leave_profile({HandMade(0, 2).does(Activity::kForward, 0, 6).step(3, 0, 10),
                 HandMade(1, 2).does(Activity::kForward, 0, 8).step(3, 0, 10)});
  finish(two, 1, {.failure = "killed"});
  leave_profile({HandMade(0, 2).step(3, 0, 90), HandMade(1, 2).step(3, 0, 90)});
  const PointResult found = results().points.at(two);
  ASSERT_THAT(found.breakdown_by_rank, SizeIs(2));
  const auto compute = static_cast<size_t>(scaling::Part::kCompute);
  const auto idle = static_cast<size_t>(scaling::Part::kIdle);
  EXPECT_NEAR(found.breakdown_by_rank[0][compute], 6, 1e-9);
  EXPECT_NEAR(found.breakdown_by_rank[1][compute], 8, 1e-9);
  EXPECT_NEAR(found.breakdown_by_rank[1][idle], 2, 1e-9);
  EXPECT_THAT(found.one_step, SizeIs(2));
  EXPECT_THAT(found.peak_bytes, ElementsAre(10, 11));
  EXPECT_EQ(found.bytes_by_axis, (std::map<std::string, int64_t>{{"dp_replicate", 1024}}));
}

TEST_F(Measured, ProfilesAreAskedForOfTheKeptStepsAlone) {
  EXPECT_THAT(profile_settings(made_.study()),
              ElementsAre("profiling.enable_profiling=true",
                          "profiling.save_traces_folder=profile_traces",
                          "profiling.profile_freq=3",
                          "profiling.profiler_active=2"));
}

TEST_F(Measured, SaysWhereItComesFrom) {
  finish(made_.index_of(1), 0, {.step_ms = {10}, .began = "2026-02-03T04:05:07Z"});
  finish(made_.index_of(2), 0, {.step_ms = {10}, .began = "2026-02-03T04:05:06Z"});
  const Results found = results();
  EXPECT_EQ(found.provenance.study, "made");
  EXPECT_EQ(found.provenance.config_hash, made_.facts().hash());
  EXPECT_EQ(found.provenance.seed, 42U);
  EXPECT_EQ(found.provenance.began, "2026-02-03T04:05:06Z");
  EXPECT_GE(found.provenance.ended, found.provenance.began);
  EXPECT_NE(found.provenance.version, "");
  EXPECT_TRUE(found.provenance.machine.starts_with(
      counted(static_cast<int64_t>(std::thread::hardware_concurrency()), "core")))
      << found.provenance.machine;
  EXPECT_EQ(found.warmup_steps, 1);
  ASSERT_THAT(found.peaks, SizeIs(1));
  EXPECT_EQ(found.peaks[0].dtype, to_string(DType::kFloat32));
  EXPECT_EQ(found.peaks[0].flops_per_s, kPeak);
}

TEST_F(Measured, SeriesAreThoseOfTheGrid) {
  const Results found = results();
  ASSERT_EQ(found.series.size(), made_.grid().series.size());
  for (size_t i = 0; i < found.series.size(); ++i) {
    EXPECT_EQ(found.series[i].name, made_.grid().series[i].name);
    EXPECT_EQ(found.series[i].points, made_.grid().series[i].points);
  }
}

TEST_F(Measured, PeaksAreOfEachTypeAndNumberOfThreadsOfOurOwnPoints) {
  const Peaks peaks = value_or_throw(measure_peaks(made_.grid(), made_.study()));
  ASSERT_THAT(peaks, SizeIs(1));
  EXPECT_EQ(peaks.begin()->first, (std::pair<DType, int64_t>{DType::kFloat32, 1}));
  EXPECT_GT(peaks.begin()->second, 0);
  EXPECT_TRUE(std::isfinite(peaks.begin()->second));
}

}  // namespace
}  // namespace brigade::scale
