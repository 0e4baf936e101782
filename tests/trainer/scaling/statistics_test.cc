// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/statistics.h"

#include <cmath>

#include <gtest/gtest.h>

#include "parallel/base/philox.h"

namespace brigade::scaling {
namespace {

double width(const Estimate& estimate) {
  return estimate.interval.high - estimate.interval.low;
}

TEST(Median, IsTheMiddleOrTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({7}), 7);
}

TEST(Quantile, IsLinearBetweenOrderStatistics) {
  EXPECT_EQ(quantile({30, 10, 20, 40, 50}, 0.0), 10);
  EXPECT_EQ(quantile({30, 10, 20, 40, 50}, 1.0), 50);
  EXPECT_EQ(quantile({30, 10, 20, 40, 50}, 0.25), 20);
  EXPECT_DOUBLE_EQ(quantile({30, 10, 20, 40, 50}, 0.1), 14);
}

TEST(MedianOf, IsTheSameForTheSameSeed) {
  const std::vector<double> sample = {3, 1, 4, 1, 5, 9, 2, 6};
  const Estimate once = median_of(sample, 3);
  const Estimate again = median_of(sample, 3);
  EXPECT_EQ(once.value, 3.5);
  EXPECT_EQ(once.interval.low, again.interval.low);
  EXPECT_EQ(once.interval.high, again.interval.high);
  EXPECT_LT(once.interval.low, 3.5);
  EXPECT_GT(once.interval.high, 3.5);
}

TEST(MedianOf, OfOneValueIsThatValue) {
  const Estimate estimate = median_of(std::vector<double>{2.5}, 0);
  EXPECT_EQ(estimate.value, 2.5);
  EXPECT_EQ(estimate.interval.low, 2.5);
  EXPECT_EQ(estimate.interval.high, 2.5);
}

TEST(MedianOf, HoldsTheTrueMedianInAboutNineteenOfTwentySamples) {
  int held = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::vector<double> sample;
    for (uint64_t index = 0; index < 25; ++index) {
      sample.push_back(std::exp(static_cast<double>(normal(seed, index, 0, 1))));
    }
    const Interval interval = median_of(sample, seed).interval;
    held += interval.low <= 1.0 && 1.0 <= interval.high ? 1 : 0;
  }
  EXPECT_GE(held, 180);
}

TEST(MedianOfRepeats, IsNotNarrowedByManyStepsOfFewRepeats) {
  // Two runs that differ by 10 %, each of 100 nearly equal steps.
  std::vector<std::vector<double>> repeats(2);
  std::vector<double> all;
  for (int step = 0; step < 100; ++step) {
    const double wiggle = 0.001 * step;
    repeats[0].push_back(100 + wiggle);
    repeats[1].push_back(110 + wiggle);
    all.insert(all.end(), {100 + wiggle, 110 + wiggle});
  }
  const Estimate by_repeat = median_of_repeats(repeats, 1);
  EXPECT_LT(by_repeat.interval.low, 100.2);
  EXPECT_GT(by_repeat.interval.high, 110.0);

  std::vector<std::vector<double>> calm(5, all);
  EXPECT_LE(width(median_of_repeats(calm, 1)), width(by_repeat));
}

TEST(SplitRepeats, CutsIntoStretchesThatFollowEachOther) {
  const std::vector<double> sample = {1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(split_repeats(sample, 3),
            (std::vector<std::vector<double>>{{1, 2}, {3, 4}, {5, 6, 7}}));
  EXPECT_EQ(split_repeats(sample, 0).size(), 1U);
  EXPECT_EQ(split_repeats(sample, 99).size(), 7U);
}

}  // namespace
}  // namespace brigade::scaling
