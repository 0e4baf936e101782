// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/study_view.h"

#include <gmock/gmock.h>

#include "tests/trainer/scaling/sample_results.h"

namespace brigade::report {
namespace {

using scaling::Results;

Results of_rates(std::vector<std::pair<int64_t, double>> rates) {
  Results results;
  scaling::Series series;
  for (const auto& [ranks, rate] : rates) {
    scaling::PointResult result;
    result.point.ranks = ranks;
    result.tokens_per_s = {rate, {rate * 0.9, rate * 1.1}};
    series.points.push_back(results.points.size());
    results.points.push_back(result);
  }
  results.series = {series};
  return results;
}

TEST(StudyView, PointsSayTheirRanksTheirPeerAndThatCoresAreShared) {
  scaling::Point point;
  point.series = "small dp";
  EXPECT_EQ(point_name(point), "small dp, 1 rank");
  point.ranks = 4;
  point.oversubscribed = true;
  point.peer = "ddp";
  EXPECT_EQ(point_name(point), "small dp (ddp), 4 ranks †");
  EXPECT_EQ(ranks_text(point), "4 †");
  point.series = "ddp small";
  EXPECT_EQ(series_name(point), "ddp small");
}

TEST(StudyView, SpeedUpIsCountedFromTheSeriesOwnFirstPoint) {
  const Results results = of_rates({{2, 100}, {8, 300}});
  const auto gain = speed_up(results, results.series[0], 1);
  ASSERT_TRUE(gain);
  EXPECT_DOUBLE_EQ(gain->value, 3);
  EXPECT_DOUBLE_EQ(gain->interval.low, 2.7);
  EXPECT_DOUBLE_EQ(efficiency(results, results.series[0], 1)->value, 0.75);
}

TEST(StudyView, WhenTheModelGrowsWorkIsArithmetic) {
  Results results = of_rates({{1, 100}, {2, 60}});
  results.scaling = scaling::Scaling::kMemoryConstrained;
  EXPECT_FALSE(speed_up(results, results.series[0], 1));
  results.points[0].mfu = 0.4;
  results.points[1].mfu = 0.3;
  const auto gain = speed_up(results, results.series[0], 1);
  ASSERT_TRUE(gain);
  EXPECT_DOUBLE_EQ(gain->value, 1.5);
  EXPECT_DOUBLE_EQ(gain->interval.high, 1.65);
}

TEST(StudyView, WithoutABaseThereIsNoSpeedUp) {
  const Results results = of_rates({{1, 0}, {2, 300}});
  EXPECT_FALSE(speed_up(results, results.series[0], 1));
  EXPECT_FALSE(efficiency(results, results.series[0], 1));
}

TEST(StudyView, IntervalsThatWereNotEstimatedAreNone) {
  EXPECT_FALSE(interval_of({5, {0, 0}}));
  EXPECT_FALSE(interval_of({5, {6, 7}}));
  EXPECT_EQ(interval_of({5, {4, 6}}, 2), std::pair(2.0, 3.0));
}

TEST(StudyView, TheFootnoteComesOnlyWhereItIsNeeded) {
  EXPECT_EQ(with_footnote(scaling::two_rank_study(), "Note."), "Note.");
  EXPECT_THAT(with_footnote(scaling::oversubscribed_study(), "Note."),
              testing::StartsWith("Note. † oversubscribed: "));
}

}  // namespace
}  // namespace brigade::report
