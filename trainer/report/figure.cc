// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/figure.h"

#include "parallel/base/text.h"
#include "trainer/report/markup.h"

namespace brigade::report {

std::string details(const std::string& id, const Table& table) {
  return concat("<details><summary>Numbers</summary>\n",
                to_html(table),
                "<p class=\"save\">Save as ",
                csv_link(table, id + ".csv"),
                "</p></details>\n");
}

std::string to_html(const Figure& figure) {
  const std::string wide = figure.draw(figure.full_width ? kFullWidth : kHalfWidth);
  if (wide.empty()) {
    return "";
  }
  return concat(
      "<figure id=\"",
      escaped(figure.id),
      "\" class=\"",
      figure.full_width ? "full" : "half",
      "\"><figcaption><h3>",
      escaped(figure.heading),
      "</h3></figcaption>\n",
      figure.legend,
      "<div class=\"chart wide\">",
      wide,
      "</div>\n<div class=\"chart narrow\">",
      figure.draw(kNarrowWidth),
      "</div>\n",
      figure.note.empty() ? "" : concat("<p class=\"note\">", escaped(figure.note), "</p>\n"),
      details(figure.id, figure.table),
      "</figure>\n");
}

}  // namespace brigade::report
