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

using scaling::Fit;
using scaling::Results;
using scaling::Series;

Table parameter_table(const Results& results) {
  Table table{
      "Laws and their parameters, with 95 % intervals; held-out: median relative error of "
      "predicting a size that was left out",
      {{"series"},
       {"law"},
       {"parameter"},
       {"value", true},
       {"low", true},
       {"high", true},
       {"AICc", true},
       {"held-out (%)", true},
       {"remark"}}};
  for (size_t s = 0; s < results.series.size(); ++s) {
    const Series& series = results.series[s];
    for (size_t f = 0; f < series.fits.size(); ++f) {
      const Fit& fit = series.fits[f];
      const std::string place = concat("series/", s, "/fits/", f, '/');
      if (!fit.why_not.empty()) {
        const Cell none = {std::string(kAbsent)};
        table.rows.push_back({{series_name(results, series)},
                              {fit.law},
                              none,
                              none,
                              none,
                              none,
                              none,
                              none,
                              {fit.why_not}});
        continue;
      }
      for (size_t p = 0; p < fit.parameters.size(); ++p) {
        const auto& [name, estimate] = fit.parameters[p];
        const auto number = [&](double value, std::string_view key) {
          return number_cell(
              value, significant(value, 3), concat(place, "parameters/", p, '/', key));
        };
        table.rows.push_back(
            {{series_name(results, series)},
             {fit.law},
             {name},
             number(estimate.value, "value"),
             number(estimate.interval.low, "low"),
             number(estimate.interval.high, "high"),
             number_cell(fit.aicc, fixed(fit.aicc, 1), place + "aicc"),
             number_cell(
                 fit.held_out_error, fixed(fit.held_out_error * 100, 1), place + "held_out_error"),
             {}});
      }
    }
  }
  return table;
}

/// f as the fit found it beside f as the timeline shows it.
Table serial_table(const Results& results) {
  Table table{"Serial fraction f: from step times alone, and from the timeline",
              {{"series"},
               {"f of the fit", true},
               {"low", true},
               {"high", true},
               {"f of the timeline", true}}};
  for (size_t s = 0; s < results.series.size(); ++s) {
    const Series& series = results.series[s];
    std::vector<Cell> row = {{series_name(results, series)}};
    for (size_t f = 0; f < series.fits.size() && row.size() == 1; ++f) {
      const auto& parameters = series.fits[f].parameters;
      for (size_t p = 0; p < parameters.size() && series.fits[f].law == "Amdahl" &&
                         series.fits[f].why_not.empty();
           ++p) {
        if (parameters[p].name == "f") {
          add_estimate(row,
                       parameters[p].estimate,
                       concat("series/", s, "/fits/", f, "/parameters/", p),
                       1,
                       3);
        }
      }
    }
    row.resize(4, row.size() == 1 ? Cell{std::string(kAbsent)} : Cell{});
    row.push_back(series.serial_fraction_of_timeline
                      ? number_cell(*series.serial_fraction_of_timeline,
                                    fixed(*series.serial_fraction_of_timeline, 3),
                                    concat("series/", s, "/serial_fraction_of_timeline"))
                      : Cell{std::string(kAbsent)});
    if (row[1].value || row[4].value) {
      table.rows.push_back(row);
    }
  }
  return table;
}

/// Step time of one series under its identifiable laws.
std::string law_figure(const Results& results, size_t s) {
  const Series& series = results.series[s];
  LineChart chart{
      concat("Step time and laws: ", series_name(results, series)),
      "Measured step times and fitted curves, up to four times the largest measured size.",
      "ranks",
      Scale::kLog2,
      true,
      "step (ms)",
      Scale::kLog};
  Line measured{"measured", LineKind::kMeasured, 5};
  Table table{"Measured and fitted step time (ms)",
              {{"law"}, {"ranks", true}, {"step (ms)", true}}};
  for (const size_t index : series.points) {
    const auto& result = results.points[index];
    measured.points.push_back(line_point(
        result.point, result.median_step_ms.value, fixed(result.median_step_ms.value, 2) + " ms"));
    measured.points.back().interval = interval_of(result.median_step_ms);
    table.rows.push_back({{"measured"},
                          number_cell(static_cast<double>(result.point.ranks),
                                      ranks_text(result.point),
                                      point_place(index, "point/ranks")),
                          number_cell(result.median_step_ms.value,
                                      fixed(result.median_step_ms.value, 2),
                                      point_place(index, "median_step_ms/value"))});
  }
  std::vector<LegendEntry> keys = {{LegendKey::kLine, 5, "measured"}};
  for (size_t f = 0; f < series.fits.size(); ++f) {
    const Fit& fit = series.fits[f];
    if (!fit.why_not.empty() || fit.curve.empty()) {
      continue;
    }
    Line law{fit.law, LineKind::kModel, f % 5};
    for (size_t i = 0; i < fit.curve.size(); ++i) {
      const auto [ranks, ms] = fit.curve[i];
      const std::string place = concat("series/", s, "/fits/", f, "/curve/", i);
      law.points.push_back({ranks, ms});
      table.rows.push_back({{fit.law},
                            number_cell(ranks, significant(ranks, 3), place + "/0"),
                            number_cell(ms, fixed(ms, 2), place + "/1")});
    }
    chart.lines.push_back(law);
    keys.push_back({LegendKey::kModel, f % 5, fit.law});
  }
  if (chart.lines.empty()) {
    return "";
  }
  chart.lines.push_back(measured);
  if (any_oversubscribed(results)) {
    keys.push_back({LegendKey::kHollow, 0, "oversubscribed †"});
  }
  return to_html(Figure{concat("laws-", s),
                        concat("Step time and laws, ", series_name(results, series)),
                        legend(keys),
                        [&](double width) {
                          return draw(chart, {width, 320});
                        },
                        with_footnote(results, ""),
                        table});
}

std::string formulas(const Results& results) {
  std::vector<std::pair<std::string, std::string>> known;
  for (const Series& series : results.series) {
    for (const Fit& fit : series.fits) {
      if (std::none_of(known.begin(), known.end(), [&](const auto& entry) {
            return entry.first == fit.law;
          })) {
        known.emplace_back(fit.law, fit.formula);
      }
    }
  }
  std::string html;
  for (const auto& [law, formula] : known) {
    html += concat("<dt>", escaped(law), "</dt><dd><code>", escaped(formula), "</code></dd>\n");
  }
  return html.empty() ? "" : concat("<dl class=\"facts\">\n", html, "</dl>\n");
}

std::string table_card(const std::string& id, const Table& table) {
  return table.rows.empty() ? ""
                            : concat("<div class=\"open\">",
                                     to_html(table),
                                     "<p class=\"save\">Save as ",
                                     csv_link(table, id + ".csv"),
                                     "</p></div>\n");
}

}  // namespace

Section fits_section(const Results& results) {
  std::string figures;
  for (size_t s = 0; s < results.series.size(); ++s) {
    figures += law_figure(results, s);
  }
  figures += karp_flatt_figure(results) + ratio_figure(results);
  const std::string laws = table_card("laws", parameter_table(results));
  const std::string serial = table_card("serial-fraction", serial_table(results));
  if ((figures + laws + serial).empty()) {
    return {"laws", "Scaling laws", ""};
  }
  return {"laws",
          "Scaling laws",
          concat("<p>From step times alone a serial part and a constant cost of communication "
                 "cannot be told apart, "
                 "nor any law from fewer than five sizes: then it says so. No curve goes beyond "
                 "four times the largest "
                 "measured size.</p>\n",
                 formulas(results),
                 laws,
                 serial,
                 figures.empty() ? "" : concat("<div class=\"figures\">\n", figures, "</div>\n"))};
}

}  // namespace brigade::report
