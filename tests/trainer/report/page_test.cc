// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/page.h"

#include <gmock/gmock.h>

namespace brigade::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Page, LeavesOutSectionsThatHaveNothingToShow) {
  const std::string html = to_html(
      Page{"A & B", "<h1>Hi</h1>", {{"one", "First", "<p>1</p>"}, {"two", "Second", ""}}, "end"});
  EXPECT_THAT(html, HasSubstr("<title>A &amp; B</title>"));
  EXPECT_THAT(html, HasSubstr("<a href=\"#one\">First</a>"));
  EXPECT_THAT(html, HasSubstr("<section id=\"one\"><h2>First</h2>"));
  EXPECT_THAT(html, Not(HasSubstr("Second")));
}

TEST(Page, AsksForNothingFromOutside) {
  const std::string html = to_html(Page{"t", "", {{"one", "First", "<p>1</p>"}}, ""});
  EXPECT_THAT(html, HasSubstr("<html lang=\"en\">"));
  EXPECT_THAT(html, Not(testing::ContainsRegex("https?:|src=|@import|@font-face")));
}

}  // namespace
}  // namespace brigade::report
