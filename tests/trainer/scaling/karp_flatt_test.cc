// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/karp_flatt.h"

#include <gtest/gtest.h>

namespace brigade::scaling {
namespace {

// Published strong scaling: teraflops per GPU, of so many GPUs, at a fixed batch and model.
std::vector<double> serial_fractions(const std::vector<std::pair<int64_t, double>>& rows) {
  std::vector<Speed> speeds;
  speeds.reserve(rows.size());
  for (const auto& [gpus, per_gpu] : rows) {
    speeds.push_back({.ranks = gpus, .value = per_gpu * static_cast<double>(gpus)});
  }
  std::vector<double> fractions;
  for (const KarpFlatt& point : karp_flatt(speeds)) {
    fractions.push_back(point.serial_fraction);
  }
  return fractions;
}

TEST(KarpFlatt, IsNearlyFlatForThePublishedThreeDimensional175B) {
  const auto e = serial_fractions({{384, 153}, {768, 149}, {1536, 141}});
  ASSERT_EQ(e.size(), 2U);
  EXPECT_NEAR(e[0], .0268, .001);
  EXPECT_NEAR(e[1], .0284, .001);
}

TEST(KarpFlatt, IsNearlyFlatForThePublishedThreeDimensional530B) {
  const auto e = serial_fractions({{560, 171}, {1120, 167}, {2240, 159}});
  ASSERT_EQ(e.size(), 2U);
  EXPECT_NEAR(e[0], .0240, .001);
  EXPECT_NEAR(e[1], .0252, .001);
}

TEST(KarpFlatt, RisesForThePublishedZero3Of175B) {
  const auto e = serial_fractions({{384, 144}, {768, 88}, {1536, 44}});
  ASSERT_EQ(e.size(), 2U);
  EXPECT_NEAR(e[0], .636, .001);
  EXPECT_NEAR(e[1], .758, .001);
}

TEST(KarpFlatt, AgreesWithThePublishedEfficiencyOf4608From96) {
  EXPECT_NEAR(karp_flatt(48 * .894, 48), .0025, .0001);
}

TEST(KarpFlatt, GivesBackAmdahlsFractionAtEveryN) {
  for (const double n : {2.0, 3.0, 8.0, 100.0}) {
    EXPECT_NEAR(karp_flatt(1.0 / (.07 + .93 / n), n), .07, 1e-12);
  }
}

TEST(KarpFlatt, IsNegativeWhenTheSpeedUpIsMoreThanTheRanks) {
  EXPECT_LT(karp_flatt(2.2, 2), 0.0);
}

TEST(KarpFlatt, OfTheBaseAloneIsEmpty) {
  EXPECT_TRUE(karp_flatt({{.ranks = 4, .value = 1.0}}).empty());
  EXPECT_TRUE(karp_flatt(std::vector<Speed>()).empty());
}

}  // namespace
}  // namespace brigade::scaling
