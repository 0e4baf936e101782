// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/dot_rows.h"

#include <limits>

#include <gmock/gmock.h>

#include "tests/trainer/report/occurrences.h"

namespace brigade::report {
namespace {

TEST(DotRows, HasATickAValueAndAMarkerARow) {
  const DotRows chart = {"Memory", "d", "MiB", {{"a", {10, 20, 30}, 0}, {"b", {5}, 1, true, true}}};
  for (const double width : {500.0, 356.0}) {
    const std::string svg = draw(chart, width);
    EXPECT_EQ(occurrences(svg, " bar\""), 4);
    EXPECT_EQ(occurrences(svg, "class=\"s0 dot\""), 1);
    EXPECT_EQ(occurrences(svg, "class=\"s1 dot hollow\""), 1);
    EXPECT_THAT(svg, testing::HasSubstr("<title>a: 30.0</title>"));
  }
}

TEST(DotRows, NumbersThatDoNotExistAreLeftOut) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(draw({"Memory", "d", "MiB", {{"a", {nan}, 0}}}, 500), "");
  EXPECT_EQ(draw({"Memory", "d", "MiB", {}}, 500), "");
  const std::string svg = draw({"Memory", "d", "MiB", {{"a", {nan, 3}, 0}}}, 500);
  EXPECT_EQ(occurrences(svg, " bar\""), 1);
  EXPECT_THAT(svg, testing::Not(testing::HasSubstr("nan")));
}

}  // namespace
}  // namespace brigade::report
