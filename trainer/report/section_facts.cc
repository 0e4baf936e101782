// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "parallel/base/text.h"
#include "trainer/report/figure.h"
#include "trainer/report/markup.h"
#include "trainer/report/scaling_sections.h"
#include "trainer/report/study_view.h"
#include "trainer/scaling/results_json.h"

namespace brigade::report {
namespace {

using scaling::PointResult;
using scaling::Results;

std::string fact(std::string_view name, const std::string& value) {
  return concat(
      "<dt>", escaped(name), "</dt><dd>", escaped(value.empty() ? kAbsent : value), "</dd>\n");
}

Table peak_table(const Results& results) {
  Table table{"Largest rate of a matrix product, measured in this study",
              {{"type"}, {"threads", true}, {"GFLOP/s", true}}};
  for (size_t i = 0; i < results.peaks.size(); ++i) {
    const scaling::Peak& peak = results.peaks[i];
    table.rows.push_back({{peak.dtype},
                          number_cell(static_cast<double>(peak.threads),
                                      std::to_string(peak.threads),
                                      concat("peaks/", i, "/threads")),
                          number_cell(peak.flops_per_s,
                                      fixed(peak.flops_per_s / 1e9, 1),
                                      concat("peaks/", i, "/flops_per_s"))});
  }
  return table;
}

}  // namespace

Section failures_section(const Results& results) {
  std::string html;
  for (const PointResult& result : results.points) {
    if (!result.failure.empty()) {
      html += concat(
          "<article class=\"failed\"><h3>",
          escaped(point_name(result.point)),
          "</h3><p>",
          escaped(result.failure),
          "</p>",
          result.last_lines.empty()
              ? ""
              : concat("<pre tabindex=\"0\">", escaped(join(result.last_lines, "\n")), "</pre>"),
          "</article>\n");
    }
  }
  return {"failures", "Points that failed", html};
}

Section machine_section(const Results& results) {
  std::string html;
  if (!results.peaks.empty()) {
    html = concat(
        "<p>MFU is the arithmetic a model needs over the arithmetic this machine can do: tokens "
        "per second × FLOP "
        "per token, over ranks × the largest measured rate of a matrix product in the run's type "
        "with a rank's "
        "threads. FLOP per token = 6 × parameters + attention: two operations for each weight "
        "forward, four "
        "backward, and the two products of queries, keys and values, which grow with the sequence. "
        "What is "
        "computed again to save memory does not count.</p>\n<div class=\"open\">",
        to_html(peak_table(results)),
        "<p class=\"save\">Save as ",
        csv_link(peak_table(results), "peaks.csv"),
        "</p></div>\n");
  }
  return {"machine", "What the machine can do", html};
}

Section provenance_section(const Results& results) {
  const scaling::Provenance& from = results.provenance;
  std::set<int64_t> threads;
  for (const PointResult& result : results.points) {
    threads.insert(result.point.threads);
  }
  return {"provenance",
          "Provenance",
          concat("<dl class=\"facts\">\n",
                 fact("study", from.study),
                 fact("brigade", from.version),
                 fact("config hash", from.config_hash),
                 fact("machine", from.machine),
                 fact("cores", std::to_string(from.cores)),
                 fact("threads of each rank", join(threads)),
                 fact("scaling", std::string(scaling::to_string(results.scaling))),
                 fact("began", from.began + " UTC"),
                 fact("ended", from.ended + " UTC"),
                 fact("seed", std::to_string(from.seed)),
                 fact("steps dropped as warm-up", std::to_string(results.warmup_steps)),
                 "</dl>\n")};
}

}  // namespace brigade::report
