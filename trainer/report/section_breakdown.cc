// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "parallel/base/text.h"
#include "trainer/report/figure.h"
#include "trainer/report/markup.h"
#include "trainer/report/scaling_sections.h"
#include "trainer/report/stacked_bars.h"
#include "trainer/report/step_parts.h"
#include "trainer/report/study_view.h"

namespace brigade::report {
namespace {

using scaling::Breakdown;
using scaling::PointResult;
using scaling::Results;

Table breakdown_table(const Results& results, const std::vector<size_t>& points) {
  Table table{"Milliseconds by part, mean over ranks", {{"series"}, {"ranks", true}}};
  for (const std::string& part : part_names()) {
    table.columns.push_back({part, true});
  }
  table.columns.push_back({"sum", true});
  for (const size_t index : points) {
    const PointResult& result = results.points[index];
    std::vector<Cell> row = {{series_name(result.point)}};
    row.push_back(number_cell(static_cast<double>(result.point.ranks),
                              ranks_text(result.point),
                              point_place(index, "point/ranks")));
    double sum = 0;
    for (const double ms : result.breakdown()) {
      row.push_back(number_cell(ms, fixed(ms, 2)));
      sum += ms;
    }
    row.push_back(number_cell(sum, fixed(sum, 2)));
    table.rows.push_back(row);
  }
  return table;
}

}  // namespace

Section breakdown_section(const Results& results) {
  StackedBars chart;
  chart.title = "Where a step's time goes";
  chart.description = "For each point the shares of nine parts of a step, mean over ranks.";
  chart.x_label = "share of the step (%)";
  chart.parts = part_names();
  std::vector<size_t> points;
  Breakdown used = {};
  for (const scaling::Series& series : results.series) {
    bool begins = true;
    for (const size_t index : series.points) {
      const PointResult& result = results.points[index];
      const bool shown = std::find(points.begin(), points.end(), index) != points.end();
      if (result.breakdown_by_rank.empty() || shown) {
        continue;
      }
      const Breakdown parts = result.breakdown();
      double sum = 0;
      for (size_t part = 0; part < parts.size(); ++part) {
        sum += parts[part];
        used[part] += parts[part];
      }
      chart.rows.push_back({point_name(result.point),
                            {parts.begin(), parts.end()},
                            fixed(sum, 1) + " ms",
                            !points.empty() && begins});
      begins = false;
      points.push_back(index);
    }
  }
  const std::string figure = to_html(Figure{
      "parts",
      "Step by part",
      part_legend(used),
      [&](double width) { return draw(chart, width); },
      with_footnote(results,
                    "Beside each bar: the step that was recorded. Exposed communication is what a "
                    "rank waits for while it can do nothing else."),
      breakdown_table(results, points),
      true});
  return {"breakdown",
          "Where the time goes",
          figure.empty() ? "" : concat("<div class=\"figures\">\n", figure, "</div>\n")};
}

}  // namespace brigade::report
