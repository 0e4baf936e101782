// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/svg.h"

#include <limits>

#include <gmock/gmock.h>

#include "parallel/base/check.h"

namespace brigade::report {
namespace {

using testing::HasSubstr;

TEST(Svg, SaysWhatItShowsToThoseWhoCannotSeeIt) {
  const std::string text = Svg({120, 40.5}, "Speed <up>", "Two lines & more.").text();
  EXPECT_THAT(text, testing::StartsWith("<svg role=\"img\" viewBox=\"0 0 120 40.5\""));
  EXPECT_THAT(text, HasSubstr("aria-label=\"Speed &lt;up&gt;\""));
  EXPECT_THAT(text, HasSubstr("<title>Speed &lt;up&gt;</title><desc>Two lines &amp; more.</desc>"));
  EXPECT_THAT(text, testing::EndsWith("</svg>"));
}

TEST(Svg, DrawsWhatItIsTold) {
  Svg svg({10, 10}, "t", "d");
  svg.line({0, 1}, {2, 3.25}, "grid");
  svg.box({1, 2}, {3, 4}, "c0", "a < b");
  svg.path("M0,0z", "line");
  svg.label({5, 6}, "x & y", Anchor::kEnd, "name");
  EXPECT_THAT(svg.text(),
              HasSubstr("<line x1=\"0\" y1=\"1\" x2=\"2\" y2=\"3.2\" class=\"grid\"/>"));
  EXPECT_THAT(svg.text(),
              HasSubstr("<rect x=\"1\" y=\"2\" width=\"3\" height=\"4\" class=\"c0\"><title>a &lt; "
                        "b</title></rect>"));
  EXPECT_THAT(svg.text(), HasSubstr("<path d=\"M0,0z\" class=\"line\"/>"));
  EXPECT_THAT(
      svg.text(),
      HasSubstr("<text x=\"5\" y=\"6\" text-anchor=\"end\" class=\"name\">x &amp; y</text>"));
}

TEST(Svg, PlacesThatAreNoNumbersAreABugOfTheCaller) {
  Svg svg({10, 10}, "t", "d");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(svg.line({nan, 0}, {0, 0}, ""), CheckFailure);
}

}  // namespace
}  // namespace brigade::report
