// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/serial_fraction.h"

#include <gtest/gtest.h>

namespace brigade::scaling {
namespace {

Breakdown parts(double compute, double bubble, double exposed, double optimizer = 0) {
  Breakdown breakdown = {};
  breakdown[static_cast<size_t>(Part::kCompute)] = compute;
  breakdown[static_cast<size_t>(Part::kBubble)] = bubble;
  breakdown[static_cast<size_t>(Part::kData)] = exposed;
  breakdown[static_cast<size_t>(Part::kOptimizer)] = optimizer;
  return breakdown;
}

TEST(SerialFraction, OfBubblesIsThatOfThePublished175BAnd530B) {
  // In microbatches of one stage. 175B: 12 stages, 1536 sequences, replicas 4 to 16.
  const auto small = serial_fraction(
      {{384, parts(384, 11, 0)}, {768, parts(192, 11, 3)}, {1536, parts(96, 11, 7)}},
      Scaling::kStrong);
  ASSERT_TRUE(small);
  EXPECT_NEAR(*small, 11.0 / (384 + 11), 1e-12);
  EXPECT_NEAR(1 / (4 * ((1 - *small) / 4 + *small)), .9229, .0001);  // published prediction

  // 530B: 35 stages, 2240 sequences, replicas 2 to 8.
  const auto large =
      serial_fraction({{560, parts(1120, 34, 0)}, {2240, parts(280, 34, 5)}}, Scaling::kStrong);
  ASSERT_TRUE(large);
  EXPECT_NEAR(*large, 34.0 / (1120 + 34), 1e-12);
  EXPECT_NEAR(1 / (4 * ((1 - *large) / 4 + *large)), .9188, .0001);
}

TEST(SerialFraction, IsBlindToExposedCommunication) {
  EXPECT_NEAR(
      *serial_fraction({{1, parts(100, 0, 0)}, {4, parts(25, 0, 40)}}, Scaling::kStrong), 0, 1e-12);
}

TEST(SerialFraction, CountsWhatEachRankRepeats) {
  // 90 shared, 10 of the optimizer repeated by all.
  EXPECT_NEAR(
      *serial_fraction({{1, parts(90, 0, 0, 10)}, {3, parts(30, 0, 9, 10)}}, Scaling::kStrong),
      0.1,
      1e-12);
}

TEST(SerialFraction, IsNegativeWhenTheWorkBecameCheaper) {
  EXPECT_LT(*serial_fraction({{1, parts(100, 0, 0)}, {2, parts(45, 0, 0)}}, Scaling::kStrong), 0);
}

TEST(SerialFraction, OfWeakScalingIsGustafsons) {
  EXPECT_NEAR(
      *serial_fraction({{1, parts(90, 10, 0)}, {4, parts(90, 10, 5)}}, Scaling::kWeak), 0, 1e-12);
  // S = n W(1) / W(n) = 2 * 100 / 125 = 2 - f.
  EXPECT_NEAR(
      *serial_fraction({{2, parts(100, 0, 0)}, {4, parts(125, 0, 0)}}, Scaling::kWeak), 0.4, 1e-12);
}

TEST(SerialFraction, IsNoneWithoutTwoRecordedSizes) {
  EXPECT_FALSE(serial_fraction({}, Scaling::kStrong));
  EXPECT_FALSE(serial_fraction({{2, parts(1, 0, 0)}}, Scaling::kStrong));
  EXPECT_FALSE(serial_fraction({{1, parts(1, 0, 0)}, {2, Breakdown()}}, Scaling::kStrong));
  EXPECT_FALSE(
      serial_fraction({{1, parts(1, 0, 0)}, {2, parts(1, 0, 0)}}, Scaling::kMemoryConstrained));
}

}  // namespace
}  // namespace brigade::scaling
