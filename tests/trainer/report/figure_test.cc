// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/figure.h"

#include <gmock/gmock.h>

#include "parallel/base/text.h"

namespace brigade::report {
namespace {

using testing::HasSubstr;

TEST(Figure, IsDrawnForWideAndForNarrowScreens) {
  Figure figure{"speed",
                "Speed <up>",
                "<ul></ul>",
                [](double width) { return concat("<svg ", width, "/>"); },
                "a & b"};
  figure.table = {"Caption", {{"x"}}, {{{"1"}}}};
  std::string html = to_html(figure);
  EXPECT_THAT(html, HasSubstr("<figure id=\"speed\" class=\"half\">"));
  EXPECT_THAT(html, HasSubstr("<div class=\"chart wide\"><svg 500/></div>"));
  EXPECT_THAT(html, HasSubstr("<div class=\"chart narrow\"><svg 356/></div>"));
  EXPECT_THAT(html, HasSubstr("<h3>Speed &lt;up&gt;</h3>"));
  EXPECT_THAT(html, HasSubstr("a &amp; b"));
  EXPECT_THAT(html, HasSubstr("download=\"speed.csv\""));
  figure.full_width = true;
  html = to_html(figure);
  EXPECT_THAT(html, HasSubstr("<svg 1064/>"));
}

TEST(Figure, WithNothingToDrawThereIsNone) {
  EXPECT_EQ(to_html(Figure{"x", "X", "", [](double) { return std::string(); }}), "");
}

}  // namespace
}  // namespace brigade::report
