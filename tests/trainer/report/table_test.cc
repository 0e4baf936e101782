// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/table.h"

#include <gmock/gmock.h>

namespace brigade::report {
namespace {

using testing::HasSubstr;

Table sample() {
  return {
      "Step <time>",
      {{"point"}, {"median (ms)", true}},
      {{{"a, \"b\" & c"}, number_cell(1.0 / 3, "0.33", "points/0/median")}, {{"plain"}, {"–"}}}};
}

TEST(Table, CellsCarryTheirFullValueAndPlace) {
  const std::string html = to_html(sample());
  EXPECT_THAT(html, HasSubstr("<caption>Step &lt;time&gt;</caption>"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"col\" class=\"n\">median (ms)</th>"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"row\">a, &quot;b&quot; &amp; c</th>"));
  EXPECT_THAT(html,
              HasSubstr("<td class=\"n\" data-value=\"0.3333333333333333\" "
                        "data-from=\"points/0/median\">0.33</td>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"n\">–</td>"));
}

TEST(Table, CsvHasValuesInFullAndTextsInQuotes) {
  EXPECT_EQ(to_csv(sample()),
            "point,median (ms)\r\n\"a, \"\"b\"\" & c\",0.3333333333333333\r\nplain,–\r\n");
}

TEST(Table, TheLinkHoldsTheBytes) {
  const std::string link = csv_link(sample(), "step.csv");
  EXPECT_THAT(link, HasSubstr("download=\"step.csv\""));
  EXPECT_THAT(
      link,
      HasSubstr("href=\"data:text/"
                "csv;charset=utf-8,point,median%20(ms)%0D%0A%22a,%20%22%22b%22%22%20%26%20c%22,"));
  EXPECT_THAT(link, HasSubstr("plain,%E2%80%93%0D%0A\">"));
}

}  // namespace
}  // namespace brigade::report
