// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/ratio.h"

#include <gtest/gtest.h>

namespace brigade::scaling {
namespace {

Breakdown parts(double compute, double tensor, double data) {
  Breakdown breakdown = {};
  breakdown[static_cast<size_t>(Part::kCompute)] = compute;
  breakdown[static_cast<size_t>(Part::kTensor)] = tensor;
  breakdown[static_cast<size_t>(Part::kData)] = data;
  return breakdown;
}

TEST(Ratios, AreComputeOverExposedTimeOfEachAxisThatHasAny) {
  const auto ratios =
      ratios_of({{1, parts(100, 0, 0)}, {2, parts(50, 10, 0)}, {4, parts(25, 10, 5)}});
  ASSERT_EQ(ratios.size(), 2U);
  EXPECT_EQ(ratios[0].axis, "tensor");
  EXPECT_EQ(ratios[0].by_ranks, (std::vector<std::pair<int64_t, double>>{{2, 5.0}, {4, 2.5}}));
  EXPECT_EQ(ratios[1].axis, "data");
  EXPECT_EQ(ratios[1].by_ranks, (std::vector<std::pair<int64_t, double>>{{4, 5.0}}));
  EXPECT_FALSE(ratios[1].equal_at);  // one size has no slope
}

TEST(Ratios, OfNothingRecordedAreNone) {
  EXPECT_TRUE(ratios_of({}).empty());
  EXPECT_TRUE(ratios_of({{1, Breakdown()}, {2, Breakdown()}}).empty());
}

TEST(EqualAt, IsFoundBetweenSizesOnDoubleLogarithmicPaper) {
  // R = 8 / N.
  EXPECT_NEAR(*equal_at({{2, 4.0}, {4, 2.0}, {16, 0.5}}, 16), 8.0, 1e-9);
  EXPECT_NEAR(*equal_at({{2, 2.0}, {4, 1.0}, {8, 0.5}}, 8), 4.0, 1e-9);
}

TEST(EqualAt, IsExtrapolatedToFourTimesTheLargestSizeAndNotBeyond) {
  EXPECT_NEAR(*equal_at({{2, 7.0}, {4, 3.5}}, 4), 14.0, 1e-9);
  EXPECT_FALSE(equal_at({{2, 9.0}, {4, 4.5}}, 4));
  EXPECT_NEAR(*equal_at({{2, 9.0}, {4, 4.5}}, 8), 18.0, 1e-9);
}

TEST(EqualAt, IsNoneWhereTheRatioDoesNotMoveTowardsOne) {
  EXPECT_FALSE(equal_at({{2, 4.0}, {4, 4.0}}, 4));
  EXPECT_FALSE(equal_at({{2, 4.0}, {4, 5.0}}, 4));
  EXPECT_FALSE(equal_at({{2, 0.5}, {4, 0.25}}, 4));
  EXPECT_FALSE(equal_at({{2, 4.0}}, 2));
  EXPECT_FALSE(equal_at({}, 1));
}

}  // namespace
}  // namespace brigade::scaling
