// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/legend.h"

#include "parallel/base/text.h"
#include "trainer/report/marker.h"
#include "trainer/report/markup.h"
#include "trainer/report/palette.h"

namespace brigade::report {
namespace {

std::string sample(const LegendEntry& entry) {
  const std::string line = concat("s", entry.index % kLineShades.size());
  switch (entry.key) {
    case LegendKey::kLine:
      return concat("<path class=\"",
                    line,
                    " line\" d=\"M0,7H28\"/><path class=\"",
                    marker_class(entry.index, false),
                    "\" d=\"",
                    marker_path(entry.index, {14, 7}),
                    "\"/>");
    case LegendKey::kModel: return concat("<path class=\"", line, " model\" d=\"M0,7H28\"/>");
    case LegendKey::kReference: return "<path class=\"reference\" d=\"M0,7H28\"/>";
    case LegendKey::kArea:
      return concat("<path class=\"c", entry.index, "\" d=\"M6,0h16v14h-16z\"/>");
    case LegendKey::kHollow:
      return concat("<path class=\"plain dot hollow\" d=\"", marker_path(0, {14, 7}), "\"/>");
  }
  return "";
}

}  // namespace

std::string legend(const std::vector<LegendEntry>& entries) {
  std::string html = "<ul class=\"legend\">";
  for (const LegendEntry& entry : entries) {
    html += concat(
        "<li><svg class=\"key\" width=\"28\" height=\"14\" viewBox=\"0 0 28 14\" "
        "aria-hidden=\"true\">",
        sample(entry),
        "</svg>",
        escaped(entry.name),
        "</li>");
  }
  return html + "</ul>\n";
}

}  // namespace brigade::report
