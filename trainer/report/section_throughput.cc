// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "parallel/base/text.h"
#include "trainer/report/figure.h"
#include "trainer/report/line_chart.h"
#include "trainer/report/markup.h"
#include "trainer/report/scaling_sections.h"
#include "trainer/report/study_view.h"

namespace brigade::report {
namespace {

using scaling::PointResult;
using scaling::Results;

constexpr size_t kMostSeries = 6;

/// A logarithmic axis where a linear one would press the slow series to the ground.
Scale scale_for(const LineChart& chart) {
  double low = 0;
  double high = 0;
  for (const Line& line : chart.lines) {
    for (const LinePoint& point : line.points) {
      low = low == 0 ? point.y : std::min(low, point.y);
      high = std::max(high, point.y);
    }
  }
  return low > 0 && high / low > 6 ? Scale::kLog : Scale::kLinear;
}

LineChart rate_chart(const Results& results, size_t first, size_t last, bool per_rank) {
  LineChart chart;
  chart.title = per_rank ? "Tokens per second and rank" : "Tokens per second";
  chart.description = concat(chart.title, ", by number of ranks, one line a series.");
  chart.x_label = "ranks";
  chart.x_scale = rank_scale(results);
  chart.y_label = per_rank ? "tokens/s per rank" : "tokens/s, all ranks";
  for (size_t i = first; i < last; ++i) {
    Line line{series_name(results, results.series[i]), LineKind::kMeasured, i};
    for (const size_t index : results.series[i].points) {
      const PointResult& result = results.points[index];
      const double unit = per_rank ? static_cast<double>(result.point.ranks) : 1;
      line.points.push_back(line_point(result.point,
                                       result.tokens_per_s.value / unit,
                                       fixed(result.tokens_per_s.value / unit, 0) + " tokens/s"));
      line.points.back().interval = interval_of(result.tokens_per_s, unit);
    }
    chart.lines.push_back(line);
  }
  chart.y_scale = scale_for(chart);
  return chart;
}

std::vector<Cell> point_row(const Results& results, size_t index) {
  const PointResult& result = results.points[index];
  const scaling::Point& point = result.point;
  const auto count = [&](int64_t value, std::string_view key) {
    return number_cell(static_cast<double>(value), std::to_string(value), point_place(index, key));
  };
  std::vector<Cell> row = {{point.id}, {series_name(point)}, {point.model}};
  row.push_back(number_cell(
      static_cast<double>(point.ranks), ranks_text(point), point_place(index, "point/ranks")));
  row.push_back(count(point.threads, "point/threads"));
  row.push_back({point.mesh});
  row.push_back(count(point.zero_stage, "point/zero_stage"));
  row.push_back({point.schedule});
  row.push_back(count(point.microbatch_size, "point/microbatch_size"));
  row.push_back(count(point.global_batch_size, "point/global_batch_size"));
  if (!result.failure.empty()) {
    row.resize(12);
    row[10] = {"failed"};
    return row;
  }
  row.push_back(count(result.repeats, "repeats"));
  row.push_back({std::to_string(result.step_ms.size())});
  add_estimate(row, result.median_step_ms, point_place(index, "median_step_ms"), 1, 2);
  add_estimate(row, result.tokens_per_s, point_place(index, "tokens_per_s"), 1, 0);
  const double per_rank = result.tokens_per_s.value / static_cast<double>(point.ranks);
  row.push_back(number_cell(per_rank, fixed(per_rank, 0)));
  row.push_back(
      result.mfu ? number_cell(*result.mfu, fixed(*result.mfu * 100, 1), point_place(index, "mfu"))
                 : Cell{std::string(kAbsent)});
  return row;
}

Table point_table(const Results& results) {
  Table table{"All points, with medians and their 95 % intervals",
              {{"point"},           {"series"},        {"model"},
               {"ranks", true},     {"threads", true}, {"mesh"},
               {"ZeRO", true},      {"schedule"},      {"microbatch", true},
               {"batch", true},     {"repeats", true}, {"steps", true},
               {"step (ms)", true}, {"low", true},     {"high", true},
               {"tokens/s", true},  {"low", true},     {"high", true},
               {"per rank", true},  {"MFU (%)", true}}};
  for (size_t index = 0; index < results.points.size(); ++index) {
    table.rows.push_back(point_row(results, index));
  }
  return table;
}

}  // namespace

Section throughput_section(const Results& results) {
  std::string html;
  const Table table = point_table(results);
  for (size_t first = 0; first < results.series.size(); first += kMostSeries) {
    const size_t last = std::min(first + kMostSeries, results.series.size());
    for (const bool per_rank : {false, true}) {
      const LineChart chart = rate_chart(results, first, last, per_rank);
      const std::string suffix = first == 0 ? "" : concat('-', first / kMostSeries + 1);
      html += to_html(Figure{concat(per_rank ? "tokens-per-rank" : "tokens", suffix),
                             chart.title,
                             legend(series_legend(results, first, last)),
                             [&](double width) {
                               return draw(chart, {width, 320});
                             },
                             with_footnote(results, ""),
                             table});
    }
  }
  if (!html.empty()) {
    html = concat("<div class=\"figures\">\n", html, "</div>\n");
  } else if (!results.points.empty()) {
    html = concat("<div class=\"open\">", details("points", table), "</div>\n");
  }
  return {"throughput", "Throughput", html};
}

}  // namespace brigade::report
