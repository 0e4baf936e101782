// SPDX-License-Identifier: Apache-2.0
#include "models/decoder/sizes.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::decoder {
namespace {

using ::testing::HasSubstr;

TEST(Sizes, ListDivisors) {
  EXPECT_EQ(divisors(1), "1");
  EXPECT_EQ(divisors(12), "1, 2, 3, 4, 6, 12");
}

TEST(Sizes, NameTheFirstThatIsTooSmall) {
  using Sizes = std::array<std::pair<const char*, int64_t>, 3>;
  EXPECT_TRUE(check_at_least_one(Sizes{{{"dim", 1}, {"n_heads", 2}, {"ffn_dim", 3}}}));
  const Result<void> small =
      check_at_least_one(Sizes{{{"dim", 1}, {"n_heads", 0}, {"ffn_dim", -1}}});
  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().code, ErrorCode::kUsage);
  EXPECT_EQ(small.error().text, "model.n_heads must be at least 1, found 0");
}

TEST(Sizes, NameTheHeadsThatDivideTheWidth) {
  EXPECT_TRUE(check_heads_divide(24, 3));
  const Result<void> uneven = check_heads_divide(9, 2);
  ASSERT_FALSE(uneven);
  EXPECT_THAT(uneven.error().text, HasSubstr("n_heads may be 1, 3, 9"));
}

TEST(Sizes, NameTheDegreesThatDivideTheHeads) {
  EXPECT_TRUE(check_heads_split(6, "heads", 3, 6));
  const Result<void> uneven = check_heads_split(6, "heads", 4, 2);
  ASSERT_FALSE(uneven);
  EXPECT_EQ(uneven.error().text, "6 heads cannot be split over tp=4; tp may be 1, 2");
}

}  // namespace
}  // namespace brigade::decoder
