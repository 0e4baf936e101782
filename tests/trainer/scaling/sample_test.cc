// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/sample.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace brigade::scaling {
namespace {

TEST(SizesOf, SortsAndPutsEqualRanksTogether) {
  const auto sizes = sizes_of({{4, {8.0}}, {1, {2.0, 8.0}}, {4, {2.0}}});
  ASSERT_TRUE(sizes);
  ASSERT_EQ(sizes->size(), 2U);
  EXPECT_EQ((*sizes)[0].ranks, 1.0);
  EXPECT_DOUBLE_EQ((*sizes)[0].mean, std::log(4.0));
  EXPECT_EQ((*sizes)[1].logs.size(), 2U);
  EXPECT_DOUBLE_EQ((*sizes)[1].mean, std::log(4.0));
}

TEST(SizesOf, RefusesTimesThatAreNotPositiveNumbers) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, -1.0, std::nan(""), infinity}) {
    const auto sizes = sizes_of({{1, {2.0}}, {3, {5.0, bad}}});
    ASSERT_FALSE(sizes) << bad;
    EXPECT_EQ(sizes.error().code, ErrorCode::kData);
    EXPECT_NE(sizes.error().text.find("of 3 ranks"), std::string::npos) << sizes.error().text;
  }
}

TEST(SizesOf, RefusesNoRanksAndNoTimes) {
  EXPECT_FALSE(sizes_of({{0, {2.0}}}));
  EXPECT_FALSE(sizes_of({{2, {}}}));
}

}  // namespace
}  // namespace brigade::scaling
