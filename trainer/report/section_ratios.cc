// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "parallel/base/text.h"
#include "trainer/report/figure.h"
#include "trainer/report/line_chart.h"
#include "trainer/report/markup.h"
#include "trainer/report/scaling_sections.h"
#include "trainer/report/study_view.h"

namespace brigade::report {

using scaling::Results;
using scaling::Series;

namespace {

const scaling::Point* point_with(const Results& results, const Series& series, int64_t ranks) {
  for (const size_t index : series.points) {
    if (results.points[index].point.ranks == ranks) {
      return &results.points[index].point;
    }
  }
  return nullptr;
}

/// A value of some number of ranks of a series, drawn as that series's point.
LinePoint ranks_point(const Results& results, const Series& series, int64_t ranks, double value) {
  const scaling::Point* point = point_with(results, series, ranks);
  return point != nullptr ? line_point(*point, value, significant(value, 3))
                          : LinePoint{static_cast<double>(ranks), value};
}

Cell ranks_cell(const Results& results, const Series& series, int64_t ranks, std::string from) {
  const scaling::Point* point = point_with(results, series, ranks);
  return number_cell(static_cast<double>(ranks),
                     point != nullptr ? ranks_text(*point) : std::to_string(ranks),
                     std::move(from));
}

}  // namespace

std::string karp_flatt_figure(const Results& results) {
  LineChart chart{"Karp-Flatt serial fraction",
                  "The serial fraction that each point's speed-up implies.",
                  "ranks",
                  rank_scale(results),
                  true,
                  "e(N), share of the work",
                  Scale::kLinear};
  Table table{"Karp-Flatt e(N)", {{"series"}, {"ranks", true}, {"e", true}}};
  std::vector<LegendEntry> keys;
  for (size_t s = 0; s < results.series.size(); ++s) {
    const Series& series = results.series[s];
    Line line{series_name(results, series), LineKind::kMeasured, s};
    for (size_t i = 0; i < series.karp_flatt.size(); ++i) {
      const auto& [ranks, e] = series.karp_flatt[i];
      const std::string place = concat("series/", s, "/karp_flatt/", i, '/');
      line.points.push_back(ranks_point(results, series, ranks, e));
      table.rows.push_back({{line.name},
                            ranks_cell(results, series, ranks, place + "ranks"),
                            number_cell(e, fixed(e, 4), place + "serial_fraction")});
    }
    if (!line.points.empty()) {
      keys.push_back({LegendKey::kLine, s, line.name});
      chart.lines.push_back(line);
    }
  }
  if (any_oversubscribed(results)) {
    keys.push_back({LegendKey::kHollow, 0, "oversubscribed †"});
  }
  return to_html(Figure{
      "karp-flatt",
      "Karp–Flatt serial fraction",
      legend(keys),
      [&](double width) {
        return draw(chart, {width, 320});
      },
      with_footnote(
          results,
          "Flat: a serial part, as Amdahl has it. Rising: a cost that grows with the ranks."),
      table});
}

std::string ratio_figure(const Results& results) {
  LineChart chart{"Compute over exposed communication",
                  "By number of ranks, one line for each series and axis.",
                  "ranks",
                  rank_scale(results),
                  true,
                  "compute / exposed communication",
                  Scale::kLog};
  Table table{"R(N) = compute / exposed communication, and the N where they would be equal",
              {{"series"}, {"axis"}, {"ranks", true}, {"R", true}, {"R = 1 at N", true}}};
  std::vector<LegendEntry> keys;
  size_t style = 0;
  for (size_t s = 0; s < results.series.size(); ++s) {
    const Series& series = results.series[s];
    for (size_t r = 0; r < series.ratios.size(); ++r) {
      const scaling::Ratio& ratio = series.ratios[r];
      Line line{concat(series_name(results, series), ", ", ratio.axis), LineKind::kMeasured, style};
      for (size_t i = 0; i < ratio.by_ranks.size(); ++i) {
        const auto& [ranks, value] = ratio.by_ranks[i];
        const std::string place = concat("series/", s, "/ratios/", r, '/');
        line.points.push_back(ranks_point(results, series, ranks, value));
        table.rows.push_back(
            {{series_name(results, series)},
             {ratio.axis},
             ranks_cell(results, series, ranks, concat(place, "by_ranks/", i, "/0")),
             number_cell(value, significant(value, 3), concat(place, "by_ranks/", i, "/1")),
             ratio.equal_at
                 ? number_cell(*ratio.equal_at, significant(*ratio.equal_at, 3), place + "equal_at")
                 : Cell{"beyond"}});
      }
      if (!line.points.empty()) {
        keys.push_back({LegendKey::kLine, style++, line.name});
        chart.lines.push_back(line);
      }
    }
  }
  if (!chart.lines.empty()) {
    double least = chart.lines[0].points[0].x;
    double most = least;
    for (const Line& line : chart.lines) {
      for (const LinePoint& point : line.points) {
        least = std::min(least, point.x);
        most = std::max(most, point.x);
      }
    }
    chart.lines.push_back({"equal", LineKind::kReference, 0, {{least, 1}, {most, 1}}});
    keys.push_back({LegendKey::kReference, 0, "equal"});
    if (any_oversubscribed(results)) {
      keys.push_back({LegendKey::kHollow, 0, "oversubscribed †"});
    }
  }
  return to_html(Figure{
      "ratios",
      "Compute to communication",
      legend(keys),
      [&](double width) {
        return draw(chart, {width, 320});
      },
      with_footnote(results,
                    "At 1 a rank waits for that axis as long as it computes. Beyond: R = 1 is not "
                    "reached within four times the largest measured size."),
      table});
}

}  // namespace brigade::report
