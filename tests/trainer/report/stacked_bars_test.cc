// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/stacked_bars.h"

#include <limits>
#include <regex>

#include <gmock/gmock.h>

#include "tests/trainer/report/occurrences.h"

namespace brigade::report {
namespace {

std::vector<double> widths(const std::string& svg) {
  std::vector<double> widths;
  const std::regex box("<rect[^>]* width=\"([0-9.]+)\"[^>]* part\"");
  for (std::sregex_iterator it(svg.begin(), svg.end(), box); it != std::sregex_iterator(); ++it) {
    widths.push_back(std::stod((*it)[1]));
  }
  return widths;
}

StackedBars chart_of(std::vector<BarRow> rows) {
  return {"Title", "Description", "share (%)", {"compute", "bubble", "idle"}, std::move(rows)};
}

TEST(StackedBars, PartsAreAsWideAsTheirShares) {
  for (const double width : {1000.0, 356.0}) {
    const std::vector<double> found =
        widths(draw(chart_of({{"dp", {60, 30, 10}, "100 ms"}}), width));
    ASSERT_EQ(found.size(), 3U);
    EXPECT_NEAR(found[0] / found[2], 6, 0.05);
    EXPECT_NEAR(found[1] / found[2], 3, 0.05);
  }
}

TEST(StackedBars, PartsWithoutARoomOfTheirOwnAreLeftOut) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string svg = draw(
      chart_of({{"dp", {60, 0, nan}, ""}, {"none", {0, 0, 0}, ""}, {"less", {-1, 5, 0}, ""}}), 800);
  EXPECT_EQ(widths(svg).size(), 2U);
  EXPECT_THAT(svg, testing::Not(testing::HasSubstr("nan")));
  EXPECT_THAT(svg, testing::HasSubstr("<title>dp: compute 100.0 %</title>"));
}

TEST(StackedBars, EachRowHasItsLabelAndTotal) {
  const std::string svg =
      draw(chart_of({{"a", {1, 1, 1}, "3 ms"}, {"b", {2, 2, 2}, "6 ms", true}}), 800);
  for (const std::string text : {">a<", ">3 ms<", ">b<", ">6 ms<"}) {
    EXPECT_EQ(occurrences(svg, text), 1) << text;
  }
  EXPECT_EQ(draw(chart_of({}), 800), "");
}

}  // namespace
}  // namespace brigade::report
