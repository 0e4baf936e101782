// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/step_parts.h"

#include <gmock/gmock.h>

namespace brigade::report {
namespace {

TEST(StepParts, TheLegendHasOnlyPartsThatOccur) {
  scaling::Breakdown used = {};
  used[static_cast<size_t>(scaling::Part::kBubble)] = 0.5;
  const std::string html = part_legend(used);
  EXPECT_THAT(html, testing::HasSubstr(">bubble</li>"));
  EXPECT_THAT(html, testing::Not(testing::HasSubstr("compute")));
  EXPECT_EQ(part_names().size(), scaling::kParts);
}

}  // namespace
}  // namespace brigade::report
