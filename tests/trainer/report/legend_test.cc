// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/legend.h"

#include <gmock/gmock.h>

#include "tests/trainer/report/occurrences.h"

namespace brigade::report {
namespace {

TEST(Legend, ShowsASampleBesideEachName) {
  const std::string html = legend({{LegendKey::kLine, 1, "tp"},
                                   {LegendKey::kModel, 1, "Amdahl"},
                                   {LegendKey::kReference, 0, "ideal"},
                                   {LegendKey::kArea, 5, "bubble"},
                                   {LegendKey::kHollow, 0, "a < b"}});
  EXPECT_EQ(occurrences(html, "<li>"), 5);
  EXPECT_EQ(occurrences(html, "aria-hidden=\"true\""), 5);
  for (const std::string sample :
       {"\"s1 dot\"", "\"s1 model\"", "\"reference\"", "\"c5\"", "dot hollow\"", "a &lt; b"}) {
    EXPECT_EQ(occurrences(html, sample), 1) << sample;
  }
}

}  // namespace
}  // namespace brigade::report
