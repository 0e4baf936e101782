// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/dot_rows.h"

#include <algorithm>
#include <cmath>

#include "parallel/base/text.h"
#include "trainer/report/axis.h"
#include "trainer/report/marker.h"
#include "trainer/report/markup.h"

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

void draw_row(Svg& svg, const DotRow& row, const Frame& frame, const Axis& axis, double y) {
  const double end = axis.position(largest(row.values), frame.left, frame.right);
  svg.line({frame.left, y}, {end, y}, concat("s", row.style % 8, " stem"));
  for (size_t i = 0; i < row.values.size(); ++i) {
    if (std::isfinite(row.values[i])) {
      const double x = axis.position(row.values[i], frame.left, frame.right);
      svg.path(marker_path(row.style, {x, y}, 4),
               marker_class(row.style, row.hollow),
               concat(row.label, ", rank ", i, ": ", fixed(row.values[i], 1)));
    }
  }
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
  const double height = pitch * static_cast<double>(chart.rows.size()) + 54;
  const Frame frame = {beside ? labels + 14 : 10, width - 20, 4, height - 46};
  Svg svg({width, height}, chart.title, chart.description);
  const Axis axis = nice_axis(Scale::kLinear, 0, most, beside ? 6 : 5);
  draw_x_axis(svg, frame, axis, chart.x_label);
  double top = frame.top;
  for (const DotRow& row : chart.rows) {
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
