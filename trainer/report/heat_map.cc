// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/heat_map.h"

#include <algorithm>
#include <cmath>

#include "parallel/base/text.h"
#include "trainer/report/markup.h"

namespace brigade::report {
namespace {

constexpr double kRowHeight = 26;
constexpr double kTop = 40;

double largest(const HeatMap& map) {
  double most = 0;
  for (const auto& row : map.values) {
    for (const double value : row) {
      most = std::isfinite(value) ? std::max(most, value) : most;
    }
  }
  return most;
}

/// Names of columns that do not fit beside each other: each second, fourth, ...
size_t column_stride(const HeatMap& map, double column_width) {
  double widest = 0;
  for (const std::string& column : map.columns) {
    widest = std::max(widest, text_width(column, kFontPx) + 6);
  }
  size_t stride = 1;
  while (column_width * static_cast<double>(stride) < widest) {
    stride *= 2;
  }
  return stride;
}

void draw_cell(Svg& svg,
               const HeatMap& map,
               size_t row,
               size_t column,
               double most,
               Place corner,
               double width) {
  const double value = map.values[row][column];
  const bool empty = !std::isfinite(value) || value <= 0;
  const std::string text = empty ? "·" : significant(value, 3);
  svg.box(corner,
          {width - 2, kRowHeight - 2},
          empty ? "h0" : heat_class(std::sqrt(value / most)),
          concat(map.rows[row], ", ", map.column_label, ' ', map.columns[column], ": ", text));
  if (text_width(text, 11) < width - 4) {
    svg.label({corner.x + (width - 2) / 2, corner.y + 16}, text, Anchor::kMiddle, "cell");
  }
}

}  // namespace

std::string heat_class(double share) {
  return concat("h", static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * 10)));
}

std::string draw(const HeatMap& map, double width) {
  if (map.rows.empty() || map.columns.empty()) {
    return "";
  }
  double labels = 0;
  for (const std::string& row : map.rows) {
    labels = std::max(labels, text_width(row, kFontPx));
  }
  const double left = labels + 12;
  const double column_width = (width - left - 2) / static_cast<double>(map.columns.size());
  const double most = largest(map);
  Svg svg({width, kTop + kRowHeight * static_cast<double>(map.rows.size()) + 4},
          map.title,
          map.description);
  svg.label({left, 13}, map.column_label, Anchor::kStart, "name");
  const size_t stride = column_stride(map, column_width);
  for (size_t column = 0; column < map.columns.size(); column += stride) {
    svg.label({left + (static_cast<double>(column) + 0.5) * column_width - 1, 32},
              map.columns[column],
              Anchor::kMiddle);
  }
  for (size_t row = 0; row < map.rows.size(); ++row) {
    const double top = kTop + kRowHeight * static_cast<double>(row);
    svg.label({left - 10, top + 16}, map.rows[row], Anchor::kEnd, "strong");
    for (size_t column = 0; column < map.columns.size(); ++column) {
      draw_cell(svg,
                map,
                row,
                column,
                most,
                {left + static_cast<double>(column) * column_width, top},
                column_width);
    }
  }
  return svg.text();
}

}  // namespace brigade::report
