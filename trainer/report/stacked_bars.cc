// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/stacked_bars.h"

#include <algorithm>
#include <cmath>

#include "parallel/base/text.h"
#include "trainer/report/axis.h"
#include "trainer/report/markup.h"
#include "trainer/report/row_layout.h"

namespace brigade::report {
namespace {

constexpr double kWide = 600;
constexpr double kBarHeight = 18;

double visible(double value) {
  return std::isfinite(value) && value > 0 ? value : 0;
}

void draw_bar(
    Svg& svg, const StackedBars& chart, const BarRow& row, const Frame& frame, double top) {
  double whole = 0;
  for (const double part : row.parts) {
    whole += visible(part);
  }
  double left = frame.left;
  for (size_t i = 0; i < row.parts.size() && whole > 0; ++i) {
    const double share = visible(row.parts[i]) / whole;
    const double width = share * (frame.right - frame.left);
    if (share > 0) {
      svg.box({left, top},
              {width, kBarHeight},
              concat("c", i, " part"),
              concat(row.label, ": ", chart.parts.at(i), ' ', percent(share)));
    }
    left += width;
  }
}

template <class Text>
double widest(const std::vector<BarRow>& rows, Text text) {
  double width = 0;
  for (const BarRow& row : rows) {
    width = std::max(width, text_width(text(row), kFontPx));
  }
  return width;
}

}  // namespace

std::string draw(const StackedBars& chart, double width) {
  if (chart.rows.empty()) {
    return "";
  }
  const bool beside = width >= kWide;
  const double labels = widest(chart.rows, [](const BarRow& row) { return row.label; });
  const double totals = widest(chart.rows, [](const BarRow& row) { return row.total; });
  const double pitch = beside ? 28 : 44;
  const double height = rows_height(chart.rows, pitch) + 50;
  const Frame frame = {
      beside ? labels + 12 : 8, width - (beside ? totals + 14 : 16), 2, height - 46};
  Svg svg({width, height}, chart.title, chart.description);
  Axis axis = nice_axis(Scale::kLinear, 0, 100, 6);
  draw_x_axis(svg, frame, axis, chart.x_label);
  double top = frame.top;
  for (const BarRow& row : chart.rows) {
    top += row.apart ? kGroupGap : 0;
    if (beside) {
      svg.label({frame.left - 12, top + 17}, row.label, Anchor::kEnd, "strong");
      svg.label({frame.right + 12, top + 17}, row.total, Anchor::kStart);
      draw_bar(svg, chart, row, frame, top + 4);
    } else {
      svg.label({frame.left, top + 15}, row.label, Anchor::kStart, "strong");
      svg.label({frame.right, top + 15}, row.total, Anchor::kEnd);
      draw_bar(svg, chart, row, frame, top + 21);
    }
    top += pitch;
  }
  return svg.text();
}

}  // namespace brigade::report
