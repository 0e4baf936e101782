// SPDX-License-Identifier: Apache-2.0
#include "parallel/executor/error_boundary.h"

#include <stdexcept>

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/check.h"

namespace brigade::executor {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Error error_of(const std::function<void()>& body) {
  const Result<void> result = catch_errors(3, "2B1", body);
  EXPECT_FALSE(result);
  return result ? Error{} : result.error();
}

TEST(ErrorBoundary, LetsSuccessPass) {
  EXPECT_TRUE(catch_errors(3, "2B1", [] {}));
}

TEST(ErrorBoundary, NamesRankAndActionOfAnyException) {
  EXPECT_EQ(error_of([] { throw std::runtime_error("boiled over"); }),
            (Error{ErrorCode::kInternal, "rank 3, 2B1: boiled over", -1}));
}

TEST(ErrorBoundary, KeepsCodeAndOriginOfAnError) {
  EXPECT_EQ(error_of([] {
              throw Exception(Error{ErrorCode::kTimeout, "waited", 3});
            }),
            (Error{ErrorCode::kTimeout, "rank 3, 2B1: waited", 3}));
}

TEST(ErrorBoundary, LeavesAnotherRanksTextAlone) {
  const Error other{ErrorCode::kAborted, "rank 0, 0F0: burnt", 0};
  EXPECT_EQ(error_of([&] { throw Exception(other); }), other);
}

TEST(ErrorBoundary, LeavesOutLibtorchsBacktrace) {
  const Error error = error_of([] { TORCH_CHECK(false, "shapes differ"); });
  EXPECT_EQ(error.code, ErrorCode::kInternal);
  EXPECT_THAT(error.text, StartsWith("rank 3, 2B1: shapes differ"));
  EXPECT_THAT(error.text, ::testing::Not(HasSubstr("frame #0")));
}

TEST(ErrorBoundary, ReportsABrokenInvariant) {
  const Error error = error_of([] { BRIGADE_CHECK(1 > 2, 12); });
  EXPECT_EQ(error.code, ErrorCode::kInternal);
  EXPECT_THAT(error.text, HasSubstr("1 > 2"));
}

}  // namespace
}  // namespace brigade::executor
