// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/interval.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/check.h"

namespace brigade::sharding {
namespace {

using ::testing::ElementsAre;

std::vector<int64_t> sizes(int64_t dim_size, int64_t parts) {
  std::vector<int64_t> sizes;
  for (int64_t part = 0; part < parts; ++part) {
    sizes.push_back(interval(dim_size, part, parts).size());
  }
  return sizes;
}

TEST(Interval, B1_SplitsTwentyOverSix) {
  EXPECT_THAT(sizes(20, 6), ElementsAre(3, 3, 4, 3, 3, 4));
}

TEST(Interval, B2_SplitsSixtyFourOverThree) {
  EXPECT_THAT(sizes(64, 3), ElementsAre(21, 21, 22));
}

TEST(Interval, B3_SplitsTenOverFour) {
  EXPECT_EQ(interval(10, 0, 4), (Interval{0, 2}));
  EXPECT_EQ(interval(10, 1, 4), (Interval{2, 5}));
  EXPECT_EQ(interval(10, 2, 4), (Interval{5, 7}));
  EXPECT_EQ(interval(10, 3, 4), (Interval{7, 10}));
}

TEST(Interval, B4_SplitsAVocabularyOverEight) {
  EXPECT_THAT(sizes(50257, 8), ElementsAre(6282, 6282, 6282, 6282, 6282, 6282, 6282, 6283));
}

TEST(Interval, B5_LeavesPartsOfASmallDimEmpty) {
  EXPECT_THAT(sizes(3, 8), ElementsAre(0, 0, 1, 0, 0, 1, 0, 1));
}

TEST(Interval, C8_SplitsTheFlattenedIndex) {
  EXPECT_THAT(sizes(11, 8), ElementsAre(1, 1, 2, 1, 1, 2, 1, 2));
  EXPECT_EQ(interval(11, 3, 8).end, interval(11, 0, 2).end);
}

TEST(Interval, C9_DoesNotSplitPartsOfParts) {
  std::vector<int64_t> nested = sizes(5, 4);
  for (const int64_t size : sizes(6, 4)) {
    nested.push_back(size);
  }
  EXPECT_THAT(nested, ElementsAre(1, 1, 1, 2, 1, 2, 1, 2));
  EXPECT_NE(sizes(11, 8), nested);
}

TEST(Interval, CoversTheDimInOrderWithPartsThatDifferByAtMostOne) {
  for (int64_t dim_size = 0; dim_size <= 40; ++dim_size) {
    for (int64_t parts = 1; parts <= 25; ++parts) {
      int64_t end = 0;
      for (int64_t part = 0; part < parts; ++part) {
        const Interval piece = interval(dim_size, part, parts);
        ASSERT_EQ(piece.begin, end);
        ASSERT_GE(piece.size(), dim_size / parts);
        ASSERT_LE(piece.size(), (dim_size + parts - 1) / parts);
        end = piece.end;
      }
      ASSERT_EQ(end, dim_size);
    }
  }
}

TEST(Interval, MakesMajorShardsOfGatheredMinorOnes) {
  for (int64_t dim_size = 0; dim_size <= 40; ++dim_size) {
    for (int64_t x = 1; x <= 5; ++x) {
      for (int64_t y = 1; y <= 5; ++y) {
        for (int64_t major = 0; major < x; ++major) {
          const Interval shard = interval(dim_size, major, x);
          ASSERT_EQ(interval(dim_size, major * y, x * y).begin, shard.begin);
          ASSERT_EQ(interval(dim_size, major * y + y - 1, x * y).end, shard.end);
        }
      }
    }
  }
}

TEST(Interval, DoesNotOverflowOnLargeDims) {
  constexpr int64_t kLarge = int64_t{1} << 61;
  EXPECT_EQ(interval(kLarge, 1023, 1024).end, kLarge);
  EXPECT_EQ(interval(kLarge + 5, 6, 7).end, kLarge + 5);
}

TEST(Interval, ChecksItsArguments) {
  EXPECT_THROW(interval(4, 2, 2), CheckFailure);
  EXPECT_THROW(interval(4, -1, 2), CheckFailure);
  EXPECT_THROW(interval(-1, 0, 2), CheckFailure);
}

TEST(Box, HasAShapeAndACount) {
  const Box box{{{2, 4}, {0, 3}}};
  EXPECT_THAT(box.shape(), ElementsAre(2, 3));
  EXPECT_EQ(box.element_count(), 6);
  EXPECT_EQ(Box().element_count(), 1);
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({3, 0, 2}), 0);
}

TEST(Box, MayBeAllOfATensor) {
  EXPECT_EQ(whole_box({4, 0, 2}), (Box{{{0, 4}, {0, 0}, {0, 2}}}));
  EXPECT_EQ(whole_box({}), Box());
}

TEST(Box, IntersectsDimByDim) {
  EXPECT_EQ(intersect({{{0, 4}, {2, 6}}}, {{{2, 8}, {0, 3}}}), (Box{{{2, 4}, {2, 3}}}));
  EXPECT_EQ(intersect({{{0, 2}, {0, 2}}}, {{{2, 4}, {0, 2}}}).element_count(), 0);
  EXPECT_EQ(intersect({{{5, 6}}}, {{{1, 2}}}).element_count(), 0);
  EXPECT_EQ(intersect({}, {}).element_count(), 1);
  EXPECT_THROW(intersect({{{0, 1}}}, {}), CheckFailure);
}

}  // namespace
}  // namespace brigade::sharding
