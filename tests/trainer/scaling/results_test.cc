// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/results.h"

#include <set>

#include <gtest/gtest.h>

namespace brigade::scaling {
namespace {

TEST(Results, EachPartHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (size_t part = 0; part < kParts; ++part) {
    names.insert(to_string(static_cast<Part>(part)));
  }
  EXPECT_EQ(names.size(), kParts);
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(Results, TheBreakdownOfAPointIsTheMeanOverItsRanks) {
  PointResult result;
  EXPECT_EQ(result.breakdown(), Breakdown{});
  result.breakdown_by_rank.resize(2);
  result.breakdown_by_rank[0][static_cast<size_t>(Part::kCompute)] = 10;
  result.breakdown_by_rank[1][static_cast<size_t>(Part::kCompute)] = 6;
  result.breakdown_by_rank[1][static_cast<size_t>(Part::kBubble)] = 4;
  EXPECT_DOUBLE_EQ(result.breakdown()[static_cast<size_t>(Part::kCompute)], 8);
  EXPECT_DOUBLE_EQ(result.breakdown()[static_cast<size_t>(Part::kBubble)], 2);
}

}  // namespace
}  // namespace brigade::scaling
