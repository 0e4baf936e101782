// SPDX-License-Identifier: Apache-2.0
#include "trainer/launch/failure_report.h"

#include <array>
#include <cstdlib>
#include <unistd.h>

#include <gtest/gtest.h>

namespace brigade::launch {
namespace {

TEST(FailureReport, ComesBackFromItsBytes) {
  const Failure failure = {3, 2, "two\nlines with spaces"};
  EXPECT_EQ(decode(encode(failure)), failure);
  EXPECT_EQ(decode(encode({-1, 1, ""})), (Failure{-1, 1, ""}));
}

TEST(FailureReport, IsNothingUntilItIsWhole) {
  const std::string bytes = encode({3, 2, "some text"});
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(decode(std::string_view(bytes).substr(0, length))) << length;
  }
  EXPECT_FALSE(decode("something else 1 1 0\n"));
}

TEST(FailureReport, SaysThatNobodyListens) {
  unsetenv(kReportVariable);
  EXPECT_FALSE(report_failure({}));
  setenv(kReportVariable, "1", 1);  // standard output is no report pipe
  EXPECT_FALSE(report_failure({}));
  unsetenv(kReportVariable);
}

TEST(FailureReport, TravelsThroughTheInheritedPipeAndSurvivesAClosedOne) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(pipe(ends.data()), 0);
  setenv(kReportVariable, std::to_string(ends[1]).c_str(), 1);
  EXPECT_TRUE(report_failure({1, 1, "lost rank 1"}));
  std::array<char, 256> buffer = {};
  const ssize_t count = read(ends[0], buffer.data(), buffer.size());
  ASSERT_GT(count, 0);
  EXPECT_EQ(decode({buffer.data(), static_cast<size_t>(count)}), (Failure{1, 1, "lost rank 1"}));
  close(ends[0]);
  EXPECT_FALSE(report_failure({1, 1, "nobody reads"}));
  close(ends[1]);
  unsetenv(kReportVariable);
}

}  // namespace
}  // namespace brigade::launch
