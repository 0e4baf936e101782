// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/philox.h"

#include <array>
#include <cmath>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace brigade {
namespace {

using Words = std::array<uint32_t, 4>;

// The three known answers of Philox4x32-10 that Random123 publishes. Our counter is
// (block, step, low half of the stream), our key the seed with the stream's high half folded in.
TEST(Philox, GivesThePublishedWordsForZeros) {
  EXPECT_EQ(philox(0, 0, 0, 0), (Words{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}));
}

TEST(Philox, GivesThePublishedWordsForOnes) {
  EXPECT_EQ(philox(~uint64_t{0}, ~uint64_t{0}, ~uint32_t{0}, 0xffffffffU),
            (Words{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}));
}

TEST(Philox, GivesThePublishedWordsForDigitsOfPi) {
  EXPECT_EQ(philox(0x299f31d0a4093822ULL, 0x85a308d3243f6a88ULL, 0x13198a2eU, 0x03707344U),
            (Words{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U}));
}

TEST(Philox, FoldsTheHighHalfOfTheStreamIntoTheKey) {
  EXPECT_EQ(philox(0, 7, 3, 0x0000000500000000ULL), philox(5, 7, 3, 0));
}

TEST(Philox, ChangesWithEveryArgument) {
  const std::set<Words> answers = {philox(1, 1, 1, 1),
                                   philox(2, 1, 1, 1),
                                   philox(1, 2, 1, 1),
                                   philox(1, 1, 2, 1),
                                   philox(1, 1, 1, 2),
                                   philox(1, uint64_t{1} << 32, 1, 1),
                                   philox(uint64_t{1} << 32, 1, 1, 1)};
  EXPECT_EQ(answers.size(), 7U);
}

TEST(RandomStream, IsFixedForAllTime) {
  // FNV-1a, computed apart from this code over the bytes "init", 0, "head.weight".
  EXPECT_EQ(random_stream("init", "head.weight"), 0x72b14a2d99c5a907ULL);
  // Of no bytes but the separator.
  EXPECT_EQ(random_stream("", ""), 0xaf63bd4c8601b7dfULL);
}

TEST(RandomStream, KeepsPurposeAndNameApart) {
  EXPECT_NE(random_stream("ab", "c"), random_stream("a", "bc"));
  EXPECT_NE(random_stream("init", "x"), random_stream("dropout", "x"));
}

TEST(UniformFloat, CoversTheHalfOpenUnitInterval) {
  EXPECT_EQ(uniform_float(0), 0.0F);
  EXPECT_EQ(uniform_float(0x80000000U), 0.5F);
  EXPECT_EQ(uniform_float(0xffffffffU), 1.0F - 0x1p-24F);
}

TEST(Normal, HasTheMomentsOfAStandardNormal) {
  constexpr uint64_t kCount = 1 << 18;
  std::array<double, 4> moments = {};
  for (uint64_t i = 0; i < kCount; ++i) {
    const double x = normal(11, i, 0, 5);
    double power = 1.0;
    for (double& moment : moments) {
      power *= x;
      moment += power / static_cast<double>(kCount);
    }
  }
  // Six standard errors of each moment's estimate: sqrt(1, 2, 15, 96) / 512.
  EXPECT_NEAR(moments[0], 0.0, 6.0 * std::sqrt(1.0) / 512.0);
  EXPECT_NEAR(moments[1], 1.0, 6.0 * std::sqrt(2.0) / 512.0);
  EXPECT_NEAR(moments[2], 0.0, 6.0 * std::sqrt(15.0) / 512.0);
  EXPECT_NEAR(moments[3], 3.0, 6.0 * std::sqrt(96.0) / 512.0);
}

TEST(Normal, IsUncorrelatedBetweenNeighboursAndStreams) {
  constexpr uint64_t kCount = 1 << 16;
  double neighbours = 0.0;
  double streams = 0.0;
  for (uint64_t i = 0; i < kCount; ++i) {
    const double x = normal(3, i, 0, 1);
    const double next = normal(3, i + 1, 0, 1);
    const double other = normal(3, i, 0, 2);
    neighbours += x * next / static_cast<double>(kCount);
    streams += x * other / static_cast<double>(kCount);
  }
  EXPECT_NEAR(neighbours, 0.0, 6.0 / 256.0);
  EXPECT_NEAR(streams, 0.0, 6.0 / 256.0);
}

TEST(Normal, DependsOnTheGlobalIndexAloneNotOnWhatElseIsDrawn) {
  const float alone = normal(9, 1'000'003, 4, 77);
  for (uint64_t i = 1'000'000; i < 1'000'003; ++i) {
    EXPECT_NE(normal(9, i, 4, 77), alone);
  }
  EXPECT_EQ(normal(9, 1'000'003, 4, 77), alone);
}

// The values decide initial weights, so they are fixed for all time too.
TEST(Normal, MakesEachPairByTheFormulaOfBoxAndMuller) {
  for (uint64_t index = 0; index < 4096; ++index) {
    const Words words = philox(5, index / 4, 2, 9);
    const size_t pair = index % 4 / 2 * 2;
    const double radius =
        std::sqrt(-2.0 * std::log((static_cast<double>(words[pair]) + 1.0) / 4294967296.0));
    const double angle =
        2.0 * 3.141592653589793 * static_cast<double>(words[pair + 1]) / 4294967296.0;
    const double expected = radius * (index % 2 == 0 ? std::cos(angle) : std::sin(angle));
    ASSERT_EQ(normal(5, index, 2, 9), static_cast<float>(expected)) << index;
  }
}

TEST(Normal, IsFiniteForTheSmallestWord) {
  // 32 bits and the shift into (0, 1] leave at most sqrt(2 * 32 * ln 2) = 6.66.
  for (uint64_t i = 0; i < 1 << 16; ++i) {
    ASSERT_LT(std::abs(normal(1, i, 0, 0)), 6.67F);
  }
}

}  // namespace
}  // namespace brigade
