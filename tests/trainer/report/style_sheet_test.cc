// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/style_sheet.h"

#include <regex>
#include <set>

#include <gmock/gmock.h>

#include "parallel/base/text.h"
#include "trainer/report/palette.h"

namespace brigade::report {
namespace {

using testing::HasSubstr;

TEST(StyleSheet, HasEachColourOfBothThemes) {
  const std::string css = style_sheet();
  for (size_t i = 0; i < kAreaShades.size(); ++i) {
    EXPECT_THAT(css, HasSubstr(concat("--c", i, ':', hex(kAreaShades[i].light), ';')));
    EXPECT_THAT(css, HasSubstr(concat("--c", i, ':', hex(kAreaShades[i].dark), ';')));
    const bool hatched = hatchings().find(concat("id=\"hatch", i, '"')) != std::string::npos;
    EXPECT_EQ(hatched, is_hatched(i)) << i;
  }
  for (const Shade& shade : kLineShades) {
    EXPECT_THAT(css, HasSubstr(hex(shade.light)));
    EXPECT_THAT(css, HasSubstr(hex(shade.dark)));
  }
}

TEST(StyleSheet, UsesNoColourThatItDoesNotDefine) {
  const std::string css = style_sheet() + hatchings();
  std::set<std::string> used;
  const std::regex use("var\\((--[a-z0-9]+)\\)");
  for (std::sregex_iterator it(css.begin(), css.end(), use); it != std::sregex_iterator(); ++it) {
    used.insert((*it)[1]);
  }
  EXPECT_GT(used.size(), 20U);
  for (const std::string& name : used) {
    EXPECT_THAT(css, HasSubstr(name + ":"));
  }
}

}  // namespace
}  // namespace brigade::report
