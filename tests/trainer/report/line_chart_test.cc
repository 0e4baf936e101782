// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/line_chart.h"

#include <limits>

#include <gmock/gmock.h>

#include "tests/trainer/report/occurrences.h"

namespace brigade::report {
namespace {

using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

LineChart chart_of(std::vector<LinePoint> points, Scale y_scale = Scale::kLinear) {
  LineChart chart;
  chart.title = "Title";
  chart.description = "Description";
  chart.x_label = "ranks";
  chart.y_label = "step (ms)";
  chart.y_scale = y_scale;
  chart.lines = {{"dp", LineKind::kMeasured, 0, std::move(points)}};
  return chart;
}

TEST(LineChart, HasAMarkerAPointAndABarAnInterval) {
  const std::string svg =
      draw(chart_of({{1, 10, {{9, 11}}}, {2, 6, {}, true, "two <ranks>"}}), {400, 300});
  EXPECT_EQ(occurrences(svg, "class=\"s0 dot\""), 1);
  EXPECT_EQ(occurrences(svg, "class=\"s0 dot hollow\""), 1);
  EXPECT_EQ(occurrences(svg, "class=\"s0 bar\""), 1);
  EXPECT_EQ(occurrences(svg, "class=\"s0 line\""), 1);
  EXPECT_THAT(svg, HasSubstr("<title>two &lt;ranks&gt;</title>"));
  EXPECT_THAT(svg, HasSubstr(">step (ms)</text>"));
}

TEST(LineChart, NumbersThatDoNotExistLeaveAGap) {
  const std::string svg = draw(
      chart_of({{1, 4}, {2, kNan}, {3, kInfinity}, {4, 2, {{kNan, 3}}}, {kNan, 1}}), {400, 300});
  EXPECT_EQ(occurrences(svg, "class=\"s0 dot\""), 2);
  EXPECT_EQ(occurrences(svg, "class=\"s0 bar\""), 0);
  EXPECT_THAT(svg, testing::Not(testing::ContainsRegex("nan|inf|NaN")));
}

TEST(LineChart, ALogarithmicAxisLeavesOutWhatItCannotHold) {
  const std::string svg =
      draw(chart_of({{1, 0}, {2, -1}, {3, 8}, {4, 64}}, Scale::kLog2), {400, 300});
  EXPECT_EQ(occurrences(svg, "class=\"s0 dot\""), 2);
}

TEST(LineChart, WithoutPointsThereIsNoDrawing) {
  EXPECT_EQ(draw(LineChart{}, {400, 300}), "");
  EXPECT_EQ(draw(chart_of({{1, kNan}}), {400, 300}), "");
  EXPECT_EQ(draw(chart_of({{1, 0}}, Scale::kLog), {400, 300}), "");
}

TEST(LineChart, AxesOfCountsHaveWholeTicks) {
  const std::string svg = draw(chart_of({{1, 4}, {2, 3}, {3, 2}}), {400, 300});
  EXPECT_THAT(svg, HasSubstr(">2</text>"));
  EXPECT_THAT(svg, testing::Not(HasSubstr(">1.5</text>")));
}

TEST(LineChart, ModelsAreDashedAndReferencesDotted) {
  LineChart chart = chart_of({{1, 4}, {2, 3}});
  chart.lines.push_back({"Amdahl", LineKind::kModel, 2, {{1, 4}, {8, 1}}});
  chart.lines.push_back({"ideal", LineKind::kReference, 0, {{1, 4}, {2, 2}}});
  const std::string svg = draw(chart, {400, 300});
  EXPECT_EQ(occurrences(svg, "class=\"s2 model\""), 1);
  EXPECT_EQ(occurrences(svg, "class=\"reference\""), 1);
  EXPECT_EQ(occurrences(svg, " dot\""), 2);
}

}  // namespace
}  // namespace brigade::report
