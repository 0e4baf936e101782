// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/result.h"

#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace brigade {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) {
    return fail(ErrorCode::kUsage, "an even number was expected, found " + std::to_string(value));
  }
  return value / 2;
}

Result<int> quarter(int value) {
  const Result<int> once = half(value);
  if (!once) {
    return fail(once.error());
  }
  return half(*once);
}

TEST(Result, HoldsAValue) {
  ASSERT_TRUE(half(6).has_value());
  EXPECT_EQ(*half(6), 3);
}

TEST(Result, HandsAnErrorUpUnchanged) {
  const Error expected{ErrorCode::kUsage, "an even number was expected, found 7", -1};
  EXPECT_EQ(quarter(7).error(), expected);
}

TEST(Result, KeepsTheOriginRankOfAnotherRanksError) {
  const Result<void> failed = fail(Error{ErrorCode::kAborted, "lost", 5});
  EXPECT_EQ(failed.error().origin_rank, 5);
  EXPECT_EQ(failed.error().code, ErrorCode::kAborted);
}

TEST(ValueOrThrow, ReturnsTheValueAlsoWhenItCannotBeCopied) {
  Result<std::unique_ptr<int>> owner = std::make_unique<int>(4);
  EXPECT_EQ(*value_or_throw(std::move(owner)), 4);
  EXPECT_NO_THROW(value_or_throw(Result<void>{}));
}

TEST(ValueOrThrow, ThrowsAnExceptionThatCarriesTheError) {
  try {
    value_or_throw(half(7));
    FAIL() << "no exception";
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().code, ErrorCode::kUsage);
    EXPECT_STREQ(exception.what(), "an even number was expected, found 7");
  }
}

TEST(ErrorCode, HasANameOfItsOwnForEachCode) {
  std::set<std::string_view> names;
  const int last = static_cast<int>(ErrorCode::kInternal);
  for (int code = 0; code <= last; ++code) {
    names.insert(to_string(static_cast<ErrorCode>(code)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(last) + 1);
  EXPECT_EQ(to_string(ErrorCode::kPeerLost), "PeerLost");
}

}  // namespace
}  // namespace brigade
