// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/dot_rows.h"

#include <algorithm>
#include <cmath>

#include "parallel/base/text.h"
#include "trainer/report/axis.h"
#include "trainer/report/marker.h"
#include "trainer/report/markup.h"
#include "trainer/report/palette.h"
#include "trainer/report/row_layout.h"

namespace brigade::report {
namespace {

constexpr double kWide = 440;

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) {
    most = std::isfinite(value) ? std::max(most, value) : most;
  }
  return most;
}

/// A tick for each value, a marker on the largest.
void draw_row(Svg& svg, const DotRow& row, const Frame& frame, const Axis& axis, double y) {
  const double most = largest(row.values);
  const std::string style = concat("s", row.style % kLineShades.size());
  const auto x = [&](double value) { return axis.position(value, frame.first(), frame.last()); };
  svg.line({x(0), y}, {x(most), y}, style + " stem");
  for (const double value : row.values) {
    if (std::isfinite(value)) {
      svg.line({x(value), y - 6}, {x(value), y + 6}, style + " bar");
    }
  }
  svg.path(marker_path(row.style, {x(most), y}, 4),
           marker_class(row.style, row.hollow),
           concat(row.label, ": ", fixed(most, 1)));
}

}  // namespace

std::string draw(const DotRows& chart, double width) {
  double most = 0;
  double labels = 0;
  for (const DotRow& row : chart.rows) {
    most = std::max(most, largest(row.values));
    labels = std::max(labels, text_width(row.label, kFontPx));
  }
  if (most == 0) {
    return "";
  }
  const bool beside = width >= kWide;
  const double pitch = beside ? 26 : 40;
  const double height = rows_height(chart.rows, pitch) + 54;
  const Frame frame = {beside ? labels + 14 : 10, width - 20, 4, height - 46};
  Svg svg({width, height}, chart.title, chart.description);
  const Axis axis = nice_axis(Scale::kLinear, 0, most, beside ? 6 : 5);
  draw_x_axis(svg, frame, axis, chart.x_label);
  double top = frame.top;
  for (const DotRow& row : chart.rows) {
    top += row.apart ? kGroupGap : 0;
    if (beside) {
      svg.label({frame.left - 12, top + 17}, row.label, Anchor::kEnd, "strong");
      draw_row(svg, row, frame, axis, top + 13);
    } else {
      svg.label({frame.left, top + 15}, row.label, Anchor::kStart, "strong");
      draw_row(svg, row, frame, axis, top + 28);
    }
    top += pitch;
  }
  return svg.text();
}

}  // namespace brigade::report
