// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/check.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string message_of_failed_check() {
  const int begin = 7;
  const int end = 3;
  try {
    BRIGADE_CHECK(begin <= end, begin, end);
  } catch (const CheckFailure& failure) {
    return failure.what();
  }
  return "no failure";
}

TEST(Check, PrintsExpressionPlaceAndValues) {
  EXPECT_THAT(message_of_failed_check(),
              AllOf(HasSubstr("begin <= end"),
                    HasSubstr("check_test.cc:"),
                    HasSubstr(" 7 3"),
                    HasSubstr("internal error")));
}

TEST(Check, IsSilentWhenTheConditionHolds) {
  EXPECT_NO_THROW(BRIGADE_CHECK(1 + 1 == 2, "never printed"));
}

TEST(Check, EvaluatesItsConditionOnce) {
  int evaluations = 0;
  BRIGADE_CHECK(++evaluations > 0);
  EXPECT_EQ(evaluations, 1);
}

TEST(Check, BuildsItsValuesOnlyWhenItFails) {
  int built = 0;
  const auto value = [&built] { return ++built; };
  BRIGADE_CHECK(true, value());
  EXPECT_EQ(built, 0);
  EXPECT_THROW(BRIGADE_CHECK(false, value()), CheckFailure);
  EXPECT_EQ(built, 1);
}

TEST(Check, IsOneStatementInAnUnbracedIf) {
  const bool chosen = false;
  if (chosen)
    BRIGADE_CHECK(false);
  else
    SUCCEED();
}

}  // namespace
}  // namespace brigade
