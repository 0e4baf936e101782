// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "parallel/base/text.h"
#include "trainer/report/figure.h"
#include "trainer/report/line_chart.h"
#include "trainer/report/markup.h"
#include "trainer/report/scaling_sections.h"
#include "trainer/report/study_view.h"
#include "trainer/scaling/results_json.h"

namespace brigade::report {
namespace {

using scaling::Estimate;
using scaling::Fit;
using scaling::Results;
using scaling::Series;

/// So many lines can be told apart in one chart.
constexpr size_t kMostSeries = 6;

using Ratio = std::optional<Estimate> (*)(const Results&, const Series&, size_t);

/// Which law the drawing shows: Amdahl's where the work stays, Gustafson's where it grows.
const Fit* shown_law(const Results& results, const Series& series) {
  const bool grows = results.scaling != scaling::Scaling::kStrong;
  const auto found = std::find_if(series.fits.begin(), series.fits.end(), [&](const Fit& fit) {
    return fit.law == (grows ? "Gustafson" : "Amdahl") && fit.why_not.empty() && !fit.curve.empty();
  });
  return found == series.fits.end() ? nullptr : &*found;
}

/// The law's speed-up (or efficiency) over its own time at the base.
Line law_line(const Results& results,
              const Series& series,
              const Fit& fit,
              size_t style,
              bool per_rank,
              double unit) {
  Line line{fit.law, LineKind::kModel, style};
  const auto base_ranks = static_cast<double>(series.base_ranks);
  const auto base = std::find_if(fit.curve.begin(), fit.curve.end(), [&](const auto& point) {
    return point.first >= base_ranks;
  });
  for (auto point = base; point != fit.curve.end(); ++point) {
    const bool strong = results.scaling == scaling::Scaling::kStrong;
    const double more = point->first / base->first;
    const double gain = base->second / point->second * (strong ? 1 : more);
    line.points.push_back({point->first, unit * (per_rank ? gain / more : gain)});
  }
  return line;
}

struct Range {
  size_t first = 0;
  size_t last = 0;
};

/// Sampled, as it bends where only one axis is logarithmic.
Line ideal_line(double least, double most, bool per_rank) {
  constexpr int kSamples = 24;
  Line line{"ideal", LineKind::kReference};
  for (int i = 0; i <= kSamples; ++i) {
    const double ranks = least * std::pow(most / least, static_cast<double>(i) / kSamples);
    line.points.push_back({ranks, per_rank ? 100 : ranks / least});
  }
  return line;
}

LineChart ratio_chart(const Results& results, Range range, Ratio ratio, bool per_rank) {
  const double unit = per_rank ? 100 : 1;
  LineChart chart;
  chart.x_label = "ranks";
  chart.x_scale = rank_scale(results);
  int64_t least = 0;
  int64_t most = 0;
  for (size_t i = range.first; i < range.last; ++i) {
    const Series& series = results.series[i];
    Line line{series_name(results, series), LineKind::kMeasured, i};
    for (const size_t index : series.points) {
      const auto& point = results.points[index].point;
      if (const auto value = ratio(results, series, index)) {
        line.points.push_back(
            line_point(point,
                       value->value * unit,
                       per_rank ? percent(value->value) : fixed(value->value, 2) + " ×"));
        line.points.back().interval = interval_of(*value, 1 / unit);
        least = least == 0 ? point.ranks : std::min(least, point.ranks);
        most = std::max(most, point.ranks);
      }
    }
    chart.lines.push_back(line);
    if (const Fit* law = shown_law(results, series)) {
      chart.lines.push_back(law_line(results, series, *law, i, per_rank, unit));
    }
  }
  if (least > 0) {
    chart.lines.push_back(
        ideal_line(static_cast<double>(least), static_cast<double>(most), per_rank));
  }
  return chart;
}

std::vector<LegendEntry> entries(const Results& results, Range range) {
  std::vector<LegendEntry> entries = series_legend(results, range.first, range.last);
  for (size_t i = range.first; i < range.last; ++i) {
    if (const Fit* law = shown_law(results, results.series[i])) {
      entries.push_back(
          {LegendKey::kModel, i, concat(law->law, ", ", series_name(results, results.series[i]))});
    }
  }
  entries.push_back({LegendKey::kReference, 0, "ideal"});
  return entries;
}

Table ratio_table(const Results& results, Range range) {
  Table table{"Speed-up and efficiency, with 95 % intervals; the base counts as exact",
              {{"series"},
               {"base ranks", true},
               {"ranks", true},
               {"step (ms)", true},
               {"low", true},
               {"high", true},
               {"speed-up (×)", true},
               {"low", true},
               {"high", true},
               {"efficiency (%)", true},
               {"low", true},
               {"high", true}}};
  for (size_t i = range.first; i < range.last; ++i) {
    const Series& series = results.series[i];
    for (const size_t index : series.points) {
      const auto& result = results.points[index];
      std::vector<Cell> row = {{series_name(results, series)}};
      row.push_back(number_cell(static_cast<double>(series.base_ranks),
                                std::to_string(series.base_ranks),
                                concat("series/", i, "/base_ranks")));
      row.push_back(number_cell(static_cast<double>(result.point.ranks),
                                ranks_text(result.point),
                                point_place(index, "point/ranks")));
      add_estimate(row, result.median_step_ms, point_place(index, "median_step_ms"), 1, 2);
      add_estimate(row, speed_up(results, series, index).value_or(Estimate{}), "", 1, 3);
      add_estimate(row, efficiency(results, series, index).value_or(Estimate{}), "", 0.01, 1);
      table.rows.push_back(row);
    }
  }
  return table;
}

std::string base_text(const Results& results, Range range) {
  std::vector<int64_t> bases;
  for (size_t i = range.first; i < range.last; ++i) {
    bases.push_back(results.series[i].base_ranks);
  }
  std::sort(bases.begin(), bases.end());
  bases.erase(std::unique(bases.begin(), bases.end()), bases.end());
  return concat(scaling::to_string(results.scaling),
                " scaling, over ",
                join(bases, " or "),
                bases == std::vector<int64_t>{1} ? " rank" : " ranks");
}

std::string figures(const Results& results, Range range, const std::string& suffix) {
  LineChart gain = ratio_chart(results, range, speed_up, false);
  gain.title = "Speed-up by number of ranks";
  gain.description = concat(
      "Speed-up, ", base_text(results, range), ", on logarithmic axes, beside the ideal line.");
  gain.y_label = concat("speed-up (×), ", base_text(results, range));
  gain.y_scale = gain.x_scale;
  LineChart share = ratio_chart(results, range, efficiency, true);
  share.title = "Efficiency by number of ranks";
  share.description = concat("Efficiency in percent, ", base_text(results, range), ".");
  share.y_label = "efficiency (%)";
  const std::string keys = legend(entries(results, range));
  const Table table = ratio_table(results, range);
  return to_html(Figure{concat("speed-up", suffix),
                        "Speed-up",
                        keys,
                        [&](double width) {
                          return draw(gain, {width, 340});
                        },
                        with_footnote(results, "Bars: 95 % interval of the point."),
                        table}) +
         to_html(Figure{concat("efficiency", suffix),
                        "Efficiency",
                        keys,
                        [&](double width) {
                          return draw(share, {width, 340});
                        },
                        with_footnote(results, "Speed-up over the ratio of ranks; 100 % is ideal."),
                        table});
}

}  // namespace

Section speed_section(const Results& results) {
  std::string html;
  if (std::none_of(results.series.begin(), results.series.end(), [](const Series& series) {
        return series.points.size() > 1;
      })) {
    return {"speed", "Speed-up and efficiency", html};
  }
  for (size_t first = 0; first < results.series.size(); first += kMostSeries) {
    const Range range = {first, std::min(first + kMostSeries, results.series.size())};
    html += figures(results, range, first == 0 ? "" : concat('-', first / kMostSeries + 1));
  }
  if (!html.empty()) {
    html = concat("<p>Each series is compared with its own first point. ",
                  results.scaling == scaling::Scaling::kMemoryConstrained
                      ? "As the model grows, work is counted in arithmetic: MFU times ranks."
                      : "Work is counted in tokens per second.",
                  " Dashed lines are fitted laws, drawn only where they can be identified.</p>\n"
                  "<div class=\"figures\">\n",
                  html,
                  "</div>\n");
  }
  return {"speed", "Speed-up and efficiency", html};
}

}  // namespace brigade::report
