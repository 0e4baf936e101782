// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "parallel/base/text.h"
#include "trainer/report/figure.h"
#include "trainer/report/heat_map.h"
#include "trainer/report/markup.h"
#include "trainer/report/scaling_sections.h"
#include "trainer/report/step_parts.h"
#include "trainer/report/study_view.h"
#include "trainer/report/timeline_chart.h"

namespace brigade::report {
namespace {

using scaling::Breakdown;
using scaling::PointResult;
using scaling::Results;
using scaling::Stretch;

/// Bounds of a page's size: stretches drawn a timeline, on wide and narrow screens.
constexpr size_t kMostWide = 2400;
constexpr size_t kMostNarrow = 900;
constexpr size_t kLongest = 24;

HeatMap heat_map(const PointResult& result) {
  HeatMap map;
  map.title = concat("Parts by rank: ", point_name(result.point));
  map.description = "Milliseconds of each part of a step on each rank; the darker, the longer.";
  map.column_label = "rank";
  map.rows = part_names();
  map.values.resize(map.rows.size());
  for (size_t rank = 0; rank < result.breakdown_by_rank.size(); ++rank) {
    map.columns.push_back(std::to_string(rank));
    for (size_t part = 0; part < map.rows.size(); ++part) {
      map.values[part].push_back(result.breakdown_by_rank[rank][part]);
    }
  }
  return map;
}

Table heat_table(const Results& results, size_t index) {
  Table table{"Milliseconds by rank and part", {{"rank"}}};
  for (const std::string& part : part_names()) {
    table.columns.push_back({part, true});
  }
  const auto& ranks = results.points[index].breakdown_by_rank;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    std::vector<Cell> row = {{std::to_string(rank)}};
    for (size_t part = 0; part < ranks[rank].size(); ++part) {
      row.push_back(number_cell(
          ranks[rank][part],
          fixed(ranks[rank][part], 3),
          point_place(index, concat("breakdown_by_rank/", rank, '/', part_names()[part]))));
    }
    table.rows.push_back(row);
  }
  return table;
}

std::string tip(const Stretch& stretch) {
  return concat(stretch.label.empty() ? to_string(stretch.part) : stretch.label,
                stretch.microbatch >= 0 ? concat(", microbatch ", stretch.microbatch) : "",
                ": ",
                fixed(stretch.end_ms - stretch.begin_ms, 3),
                " ms from ",
                fixed(stretch.begin_ms, 3));
}

TimelineChart timeline(const PointResult& result) {
  TimelineChart chart;
  chart.title = concat("One step: ", point_name(result.point));
  chart.description = "What each rank does when, from the first rank's beginning.";
  chart.x_label = "time since the step began (ms)";
  chart.categories = part_names();
  for (size_t rank = 0; rank < result.one_step.size(); ++rank) {
    Lane lane{concat("rank ", rank)};
    for (const Stretch& stretch : result.one_step[rank]) {
      lane.spans.push_back(
          {static_cast<size_t>(stretch.part), stretch.begin_ms, stretch.end_ms, tip(stretch)});
    }
    chart.lanes.push_back(lane);
  }
  return chart;
}

/// The whole recording would not fit a page; it stands in scale.json.
Table longest_stretches(const Results& results, size_t index) {
  struct Entry {
    size_t rank;
    size_t at;
    const Stretch* stretch;
  };
  std::vector<Entry> entries;
  const auto& ranks = results.points[index].one_step;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    for (size_t at = 0; at < ranks[rank].size(); ++at) {
      entries.push_back({rank, at, &ranks[rank][at]});
    }
  }
  const auto length = [](const Entry& entry) {
    return entry.stretch->end_ms - entry.stretch->begin_ms;
  };
  std::stable_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    return length(a) > length(b);
  });
  const size_t shown = std::min(entries.size(), kLongest);
  Table table{
      concat("The ", shown, " longest of ", entries.size(), " stretches; scale.json has all"),
      {{"rank"},
       {"part"},
       {"what"},
       {"microbatch", true},
       {"begin (ms)", true},
       {"end (ms)", true},
       {"length (ms)", true}}};
  for (size_t i = 0; i < shown; ++i) {
    const auto& [rank, at, stretch] = entries[i];
    const std::string place = point_place(index, concat("one_step/", rank, '/', at, '/'));
    table.rows.push_back(
        {{std::to_string(rank)},
         {std::string(to_string(stretch->part))},
         {stretch->label},
         {stretch->microbatch < 0 ? std::string(kAbsent) : std::to_string(stretch->microbatch)},
         number_cell(stretch->begin_ms, fixed(stretch->begin_ms, 3), place + "begin_ms"),
         number_cell(stretch->end_ms, fixed(stretch->end_ms, 3), place + "end_ms"),
         number_cell(length(entries[i]), fixed(length(entries[i]), 3))});
  }
  return table;
}

std::string figures(const Results& results, size_t index) {
  const PointResult& result = results.points[index];
  Breakdown used = {};
  for (const auto& rank : result.one_step) {
    for (const Stretch& stretch : rank) {
      used[static_cast<size_t>(stretch.part)] += 1;
    }
  }
  const HeatMap map = heat_map(result);
  const TimelineChart chart = timeline(result);
  const std::string note = result.point.oversubscribed ? with_footnote(results, "") : "";
  return to_html(Figure{concat("timeline-", index),
                        concat("Timeline, ", point_name(result.point)),
                        part_legend(used),
                        [&](double width) {
                          return draw(chart, width, width > kHalfWidth ? kMostWide : kMostNarrow);
                        },
                        note,
                        longest_stretches(results, index),
                        true}) +
         to_html(Figure{concat("ranks-", index),
                        concat("Milliseconds by rank, ", point_name(result.point)),
                        "",
                        [&](double width) { return draw(map, width); },
                        concat("Shades grow with the square root.", note.empty() ? "" : " ", note),
                        heat_table(results, index),
                        true});
}

/// The one that opens: the most ranks of those with a core for each thread.
size_t most_telling(const Results& results, const std::vector<size_t>& recorded) {
  return *std::max_element(recorded.begin(), recorded.end(), [&](size_t a, size_t b) {
    const auto weight = [&](size_t index) {
      const scaling::Point& point = results.points[index].point;
      return std::pair(!point.oversubscribed, point.ranks);
    };
    return weight(a) < weight(b);
  });
}

std::string other_points(const Results& results,
                         const std::vector<size_t>& recorded,
                         size_t first) {
  std::string html;
  for (const size_t index : recorded) {
    if (index != first) {
      html += concat("<details><summary>",
                     escaped(point_name(results.points[index].point)),
                     "</summary><div class=\"figures\">\n",
                     figures(results, index),
                     "</div></details>\n");
    }
  }
  return html;
}

}  // namespace

Section step_section(const Results& results) {
  std::vector<size_t> recorded;
  for (size_t index = 0; index < results.points.size(); ++index) {
    if (!results.points[index].breakdown_by_rank.empty() ||
        !results.points[index].one_step.empty()) {
      recorded.push_back(index);
    }
  }
  if (recorded.empty()) {
    return {"step", "One step", ""};
  }
  const size_t first = most_telling(results, recorded);
  std::string html = concat("<div class=\"figures\">\n", figures(results, first), "</div>\n");
  if (recorded.size() > 1) {
    html += concat("<h3 class=\"more\">The other points</h3>\n<div class=\"points\">",
                   other_points(results, recorded, first),
                   "</div>\n");
  }
  return {"step", "One step, rank by rank", html};
}

}  // namespace brigade::report
