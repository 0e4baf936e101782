// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/noise.h"

#include <cmath>

#include <gtest/gtest.h>

#include "parallel/base/philox.h"

namespace brigade::scaling {
namespace {

std::vector<Size> noisy(uint64_t seed, const std::vector<double>& sd_by_size, uint64_t repeats) {
  std::vector<Sample> samples;
  int64_t ranks = 0;
  for (const double sd : sd_by_size) {
    Sample sample = {.ranks = ++ranks, .ms = {}};
    for (uint64_t repeat = 0; repeat < repeats; ++repeat) {
      const auto stream = static_cast<uint64_t>(ranks);
      sample.ms.push_back(100 *
                          std::exp(sd * static_cast<double>(normal(seed, repeat, 0, stream))));
    }
    samples.push_back(sample);
  }
  return *sizes_of(samples);
}

double root_mean_square(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) {
    sum += value * value / static_cast<double>(values.size());
  }
  return std::sqrt(sum);
}

TEST(Noise, OfEqualSpreadIsSharedByAllSizes) {
  const Noise noise = noise_within(noisy(3, std::vector<double>(10, 0.02), 7));
  ASSERT_EQ(noise.sd.size(), 10U);
  for (const double sd : noise.sd) {
    EXPECT_NEAR(sd, 0.02, 0.008);
  }
  EXPECT_EQ(noise.pool.size(), 70U);
  EXPECT_NEAR(root_mean_square(noise.pool), 1.0, 0.15);
  EXPECT_GT(noise.freedom, 10.0);
}

TEST(Noise, OfUnequalSpreadStaysWithItsSize) {
  std::vector<double> spread(10, 0.01);
  spread[9] = 0.2;
  const Noise noise = noise_within(noisy(4, spread, 7));
  EXPECT_GT(noise.sd[9], 0.08);
  for (size_t size = 0; size < 9; ++size) {
    EXPECT_LT(noise.sd[size], 0.05);
  }
  EXPECT_LT(noise.freedom, 12.0);
}

TEST(Noise, CannotBeToldFromOneRepeat) {
  const Noise noise = noise_within(noisy(1, std::vector<double>(10, 0.02), 1));
  EXPECT_EQ(noise.freedom, 0.0);
  EXPECT_TRUE(noise.pool.empty());
  EXPECT_EQ(noise.sd, std::vector<double>(10, 1.0));
}

TEST(Noise, OfEqualTimesIsNotZero) {
  const Noise noise = noise_within(noisy(1, std::vector<double>(5, 0.0), 4));
  for (const double sd : noise.sd) {
    EXPECT_GT(sd, 0.0);
    EXPECT_LT(sd, 1e-8);
  }
}

TEST(SmallSampleFactor, IsThatOfStudentsTable) {
  EXPECT_NEAR(small_sample_factor(1), 12.706 / 1.960, 1e-3);
  EXPECT_NEAR(small_sample_factor(12), 2.179 / 1.960, 1e-3);
  EXPECT_EQ(small_sample_factor(1e9), 1.0);
}

TEST(IsSignificant, TurnsAtTheTablesFivePercent) {
  EXPECT_FALSE(is_significant(3.32, 5, 10));  // F(5, 10) at 5 %: 3.326
  EXPECT_TRUE(is_significant(3.34, 5, 10));
}

}  // namespace
}  // namespace brigade::scaling
