// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/order.h"

#include <algorithm>
#include <array>
#include <set>

#include <gtest/gtest.h>

namespace brigade::study {
namespace {

TEST(Order, EachRoundRunsEveryPointOnce) {
  for (const size_t points : {size_t{0}, size_t{1}, size_t{2}, size_t{16}}) {
    const std::vector<Turn> order = order_of(points, 3, 7);
    ASSERT_EQ(order.size(), 3 * points);
    for (size_t round = 0; round < 3; ++round) {
      std::set<size_t> seen;
      for (size_t at = 0; at < points; ++at) {
        const Turn& turn = order[round * points + at];
        EXPECT_EQ(turn.repeat, static_cast<int64_t>(round));
        seen.insert(turn.point);
      }
      EXPECT_EQ(seen.size(), points);
    }
  }
}

TEST(Order, RoundsAndSeedsDiffer) {
  const std::vector<Turn> order = order_of(16, 2, 1);
  int same = 0;
  for (size_t at = 0; at < 16; ++at) {
    same += order[at].point == order[16 + at].point ? 1 : 0;
  }
  EXPECT_LT(same, 16);
  EXPECT_NE(order_of(16, 1, 1), order_of(16, 1, 2));
  EXPECT_EQ(order_of(16, 2, 1), order);
}

TEST(Order, MoreRepeatsKeepTheRoundsThatWere) {
  const std::vector<Turn> two = order_of(9, 2, 3);
  const std::vector<Turn> five = order_of(9, 5, 3);
  EXPECT_TRUE(std::equal(two.begin(), two.end(), five.begin()));
}

/// Over many seeds each point stands first about equally often: 4 of 4000 in expectation 1000 each,
/// standard deviation 27.
TEST(Order, NoPointIsFavoured) {
  std::array<int, 4> first = {};
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    ++first[order_of(4, 1, seed).front().point];
  }
  for (const int count : first) {
    EXPECT_NEAR(count, 1000, 150);
  }
}

}  // namespace
}  // namespace brigade::study
