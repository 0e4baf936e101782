// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/analyze.h"

#include <cmath>

#include <gtest/gtest.h>

#include "parallel/base/text.h"

namespace brigade::scaling {
namespace {

// Three repeats of four steps around `ms`.
PointResult point(const std::string& series, int64_t ranks, double ms) {
  PointResult result;
  result.point = {
      .id = concat(series, "-r", ranks), .series = series, .ranks = ranks, .global_batch_size = 8};
  result.repeats = 3;
  for (const double repeat : {0.99, 1.0, 1.01}) {
    for (const double step : {0.998, 1.0, 1.0, 1.003}) {
      result.step_ms.push_back(ms * repeat * step);
    }
  }
  return result;
}

PointResult recorded(PointResult result, double compute, double data, double idle) {
  Breakdown breakdown = {};
  breakdown[static_cast<size_t>(Part::kCompute)] = compute;
  breakdown[static_cast<size_t>(Part::kData)] = data;
  breakdown[static_cast<size_t>(Part::kIdle)] = idle;
  result.breakdown_by_rank.assign(static_cast<size_t>(result.point.ranks), breakdown);
  return result;
}

TEST(Analyze, GroupsPointsBySeriesAndSortsThemByRanks) {
  Results results;
  results.points = {point("b", 4, 30), point("a", 2, 60), point("b", 1, 100), point("b", 2, 55)};
  analyze(results);
  ASSERT_EQ(results.series.size(), 2U);
  EXPECT_EQ(results.series[0].name, "b");
  EXPECT_EQ(results.series[0].points, (std::vector<size_t>{2, 3, 0}));
  EXPECT_EQ(results.series[0].base_ranks, 1);
  EXPECT_EQ(results.series[1].name, "a");
  EXPECT_EQ(results.series[1].base_ranks, 2);
  EXPECT_TRUE(results.series[1].karp_flatt.empty());
}

TEST(Analyze, LeavesOutPointsThatFailedOrDidNotRun) {
  Results results;
  results.points = {point("a", 1, 100), point("a", 2, 60), point("a", 4, 40), point("c", 1, 5)};
  results.points[0].failure = "rank 0 was killed";
  results.points[2].step_ms.clear();
  results.points[3].failure = "timed out";
  analyze(results);
  ASSERT_EQ(results.series.size(), 1U);
  EXPECT_EQ(results.series[0].points, (std::vector<size_t>{1}));
  EXPECT_EQ(results.points[0].median_step_ms.value, 0);
}

TEST(Analyze, KeepsSeriesThatAreGivenWithTheirPointsThatRanByRanks) {
  Results results;
  results.points = {point("a", 4, 40), point("a", 1, 100), point("a", 2, 60), point("b", 2, 55)};
  results.points[2].failure = "timed out";
  results.points.push_back(point("b", 8, 30));
  results.points[4].failure = "rank 3 was killed";
  results.series = {{.name = "a", .points = {0, 1, 2}},
                    {.name = "all fell", .points = {4, 2}},
                    {.name = "b", .points = {4, 3, 1}}};
  analyze(results);
  ASSERT_EQ(results.series.size(), 2U);
  EXPECT_EQ(results.series[0].name, "a");
  EXPECT_EQ(results.series[0].points, (std::vector<size_t>{1, 0}));
  EXPECT_EQ(results.series[1].name, "b");
  EXPECT_EQ(results.series[1].points, (std::vector<size_t>{1, 3})) << "one rank begins both";
  for (const Series& series : results.series) {
    EXPECT_EQ(series.base_ranks, 1);
    EXPECT_EQ(series.karp_flatt.size(), 1U);
  }
  EXPECT_EQ(results.points[1].point.series, "a");
}

TEST(Analyze, MarksAPointWhoseTimesAreNoNumbersAsFailed) {
  Results results;
  results.points = {point("a", 1, 100), point("a", 2, 60)};
  results.points[0].step_ms[5] = std::nan("");
  results.points[1].step_ms[5] = 0;
  analyze(results);
  EXPECT_TRUE(results.series.empty());
  EXPECT_EQ(results.points[1].failure,
            "a step time must be a positive number of milliseconds; found 0");
  EXPECT_NE(results.points[0].failure, "");
}

TEST(Analyze, FillsMediansThatAreNotSetAndKeepsThoseThatAre) {
  Results results;
  results.points = {point("a", 1, 100), point("a", 2, 60)};
  results.points[0].tokens_per_s.value = 500;
  results.points[1].median_step_ms = {.value = 7, .interval = {.low = 6, .high = 8}};
  results.points[1].tokens_per_s = {.value = 9, .interval = {.low = 1, .high = 11}};
  analyze(results);
  const PointResult& filled = results.points[0];
  EXPECT_NEAR(filled.median_step_ms.value, 100, 0.2);
  EXPECT_NEAR(filled.median_step_ms.interval.low, 99, 0.3);
  EXPECT_NEAR(filled.median_step_ms.interval.high, 101, 0.3);
  EXPECT_EQ(filled.tokens_per_s.value, 500);
  EXPECT_NEAR(filled.tokens_per_s.interval.low, 495, 2);
  EXPECT_NEAR(filled.tokens_per_s.interval.high, 505, 2);
  EXPECT_EQ(results.points[1].median_step_ms.value, 7);
  EXPECT_EQ(results.points[1].median_step_ms.interval.high, 8);
  EXPECT_EQ(results.points[1].tokens_per_s.interval.low, 1);
}

TEST(Analyze, FitsFiveSizesAndSaysWhyNotTwo) {
  Results results;
  for (const int64_t ranks : {1, 2, 4, 8, 16}) {
    results.points.push_back(point("many", ranks, 10 + 90 / static_cast<double>(ranks)));
  }
  results.points.push_back(point("few", 1, 100));
  results.points.push_back(point("few", 2, 60));
  analyze(results);
  ASSERT_EQ(results.series.size(), 2U);
  const Fit& amdahl = results.series[0].fits.at(0);
  EXPECT_EQ(amdahl.law, "Amdahl");
  EXPECT_EQ(amdahl.why_not, "");
  EXPECT_NEAR(amdahl.parameters.at(1).estimate.value, 0.1, 0.002);
  EXPECT_LT(amdahl.parameters.at(1).estimate.interval.low, 0.1);
  EXPECT_GT(amdahl.parameters.at(1).estimate.interval.high, 0.1);
  EXPECT_EQ(results.series[1].fits.at(0).why_not, "not identifiable: 2 sizes, needs 5 or more");
  ASSERT_EQ(results.series[1].karp_flatt.size(), 1U);
  EXPECT_NEAR(results.series[1].karp_flatt[0].serial_fraction, 0.2, 0.001);
}

TEST(Analyze, ReadsRatiosAndTheSerialFractionFromBreakdowns) {
  Results results;
  results.points = {recorded(point("a", 1, 100), 90, 0, 10),
                    recorded(point("a", 2, 64), 45, 9, 10),
                    recorded(point("a", 4, 41.5), 22.5, 9, 10)};
  analyze(results);
  const Series& series = results.series.at(0);
  ASSERT_EQ(series.ratios.size(), 1U);
  EXPECT_EQ(series.ratios[0].axis, "data");
  EXPECT_EQ(series.ratios[0].by_ranks.size(), 2U);
  ASSERT_TRUE(series.ratios[0].equal_at);
  EXPECT_NEAR(*series.ratios[0].equal_at, 10, 1e-6);
  ASSERT_TRUE(series.serial_fraction_of_timeline);
  EXPECT_NEAR(*series.serial_fraction_of_timeline, 0.1, 1e-9);
}

TEST(Analyze, ComparesThroughputsWhenTheBatchGrows) {
  Results results;
  results.scaling = Scaling::kWeak;
  results.points = {point("a", 1, 100), point("a", 4, 100)};
  results.points[1].point.global_batch_size = 32;
  analyze(results);
  EXPECT_NEAR(results.series.at(0).karp_flatt.at(0).serial_fraction, 0, 1e-12);

  results.scaling = Scaling::kMemoryConstrained;
  analyze(results);
  EXPECT_TRUE(results.series.at(0).karp_flatt.empty());
}

TEST(Analyze, ChangesNothingTheSecondTime) {
  Results results;
  for (const int64_t ranks : {1, 2, 4, 8, 16}) {
    results.points.push_back(point("a", ranks, 10 + 90 / static_cast<double>(ranks)));
  }
  analyze(results);
  const Results once = results;
  analyze(results);
  EXPECT_EQ(results.points[2].median_step_ms.interval.low,
            once.points[2].median_step_ms.interval.low);
  ASSERT_EQ(results.series.size(), once.series.size());
  EXPECT_EQ(results.series[0].fits[0].parameters[1].estimate.interval.low,
            once.series[0].fits[0].parameters[1].estimate.interval.low);
}

TEST(Analyze, OfNothingIsNothing) {
  Results results;
  analyze(results);
  EXPECT_TRUE(results.series.empty());
}

}  // namespace
}  // namespace brigade::scaling
