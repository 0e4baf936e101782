// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "parallel/base/text.h"
#include "trainer/report/dot_rows.h"
#include "trainer/report/figure.h"
#include "trainer/report/markup.h"
#include "trainer/report/scaling_sections.h"
#include "trainer/report/study_view.h"

namespace brigade::report {
namespace {

using scaling::PointResult;
using scaling::Results;

constexpr double kMiB = 1024.0 * 1024.0;

std::vector<Cell> row_start(const Results& results, size_t index) {
  const scaling::Point& point = results.points[index].point;
  return {
      {series_name(point)},
      number_cell(
          static_cast<double>(point.ranks), ranks_text(point), point_place(index, "point/ranks"))};
}

/// Calls visit(style, index) for each measured point once, series by series.
template <class Visit>
void each_point(const Results& results, Visit visit) {
  std::set<size_t> visited;
  for (size_t style = 0; style < results.series.size(); ++style) {
    for (const size_t index : results.series[style].points) {
      if (visited.insert(index).second) {
        visit(style, index);
      }
    }
  }
}

bool begins_series(const DotRows& chart, size_t style) {
  return !chart.rows.empty() && chart.rows.back().style != style;
}

std::string memory_figure(const Results& results) {
  DotRows chart{"Peak memory by rank",
                "For each point, the largest resident size of each of its ranks.",
                "peak resident memory (MiB)"};
  Table table{"Peak resident memory", {{"series"}, {"ranks", true}, {"rank", true}, {"MiB", true}}};
  each_point(results, [&](size_t style, size_t index) {
    const PointResult& result = results.points[index];
    DotRow row{point_name(result.point), {}, style, result.point.oversubscribed};
    row.apart = begins_series(chart, style);
    for (size_t rank = 0; rank < result.peak_bytes.size(); ++rank) {
      const auto bytes = static_cast<double>(result.peak_bytes[rank]);
      row.values.push_back(bytes / kMiB);
      std::vector<Cell> cells = row_start(results, index);
      cells.push_back({std::to_string(rank)});
      cells.push_back(number_cell(
          bytes, fixed(bytes / kMiB, 1), point_place(index, concat("peak_bytes/", rank))));
      table.rows.push_back(cells);
    }
    if (!row.values.empty()) {
      chart.rows.push_back(row);
    }
  });
  return to_html(
      Figure{"peak-memory",
             "Peak memory of each rank",
             "",
             [&](double width) { return draw(chart, width); },
             with_footnote(results, "One tick a rank, a marker on the largest. The CSV has bytes."),
             table});
}

std::string bytes_figure(const Results& results) {
  std::set<std::string> axes;
  each_point(results, [&](size_t, size_t index) {
    for (const auto& [axis, bytes] : results.points[index].bytes_by_axis) {
      axes.insert(axis);
    }
  });
  DotRows chart{"Bytes communicated",
                "For each point, the bytes that all ranks send in a step.",
                "sent in a step, all ranks (MiB)"};
  Table table{"MiB sent in a step by all ranks, by axis", {{"series"}, {"ranks", true}}};
  for (const std::string& axis : axes) {
    table.columns.push_back({axis, true});
  }
  each_point(results, [&](size_t style, size_t index) {
    const PointResult& result = results.points[index];
    double sum = 0;
    std::vector<Cell> cells = row_start(results, index);
    for (const std::string& axis : axes) {
      const auto found = result.bytes_by_axis.find(axis);
      const bool known = found != result.bytes_by_axis.end();
      const double bytes = known ? static_cast<double>(found->second) : 0;
      cells.push_back(known ? number_cell(bytes,
                                          fixed(bytes / kMiB, 2),
                                          point_place(index, "bytes_by_axis/" + axis))
                            : Cell{std::string(kAbsent)});
      sum += bytes;
    }
    if (!result.bytes_by_axis.empty()) {
      DotRow row{point_name(result.point), {sum / kMiB}, style, result.point.oversubscribed};
      row.apart = begins_series(chart, style);
      chart.rows.push_back(row);
      table.rows.push_back(cells);
    }
  });
  return to_html(
      Figure{"bytes",
             "Bytes communicated",
             "",
             [&](double width) { return draw(chart, width); },
             with_footnote(results, "Counted by the ledger, not measured. The CSV has bytes."),
             table});
}

}  // namespace

Section memory_section(const Results& results) {
  const std::string html = memory_figure(results) + bytes_figure(results);
  return {"memory",
          "Memory and bytes",
          html.empty() ? "" : concat("<div class=\"figures\">\n", html, "</div>\n")};
}

}  // namespace brigade::report
