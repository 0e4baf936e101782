// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/axis.h"

#include <algorithm>
#include <cmath>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "trainer/report/markup.h"

namespace brigade::report {
namespace {

/// The least of 1, 2, 5 times a power of ten that is not below `least`.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) {
      return factor * power;
    }
  }
  return 10 * power;
}

Axis linear_axis(double low, double high, int most_ticks) {
  if (low == high) {
    const double room = low == 0 ? 1 : std::fabs(low) / 2;
    low = std::min(low - room, 0.0);
    high += room;
  }
  double step = round_step((high - low) / (most_ticks - 1));
  double first = std::floor(low / step + 1e-9);
  double last = std::ceil(high / step - 1e-9);
  while (last - first + 1 > most_ticks) {
    step = round_step(step * 1.01);
    first = std::floor(low / step + 1e-9);
    last = std::ceil(high / step - 1e-9);
  }
  Axis axis{Scale::kLinear, first * step, last * step};
  for (double tick = first; tick <= last; ++tick) {
    axis.ticks.push_back(tick * step);
  }
  return axis;
}

Axis log2_axis(double low, double high, int most_ticks) {
  BRIGADE_CHECK(low > 0, "a logarithmic axis begins above 0", low);
  int first = static_cast<int>(std::floor(std::log2(low) + 1e-9));
  int last = static_cast<int>(std::ceil(std::log2(high) - 1e-9));
  if (first == last) {
    --first;
    ++last;
  }
  const int step = (last - first) / most_ticks + 1;
  Axis axis{Scale::kLog2, std::exp2(first), std::exp2(last)};
  for (int exponent = first; exponent <= last; exponent += step) {
    axis.ticks.push_back(std::exp2(exponent));
  }
  return axis;
}

/// Ticks at 1, 2, 5, at 1, 3 or at 1 times powers of ten: as many as there is room for.
Axis decade_axis(double low, double high, int most_ticks) {
  BRIGADE_CHECK(low > 0, "a logarithmic axis begins above 0", low);
  const std::vector<std::vector<double>> choices = {{1, 2, 5}, {1, 3}, {1}};
  Axis axis;
  for (const std::vector<double>& factors : choices) {
    std::vector<double> marks;
    const double first = std::floor(std::log10(low)) - 1;
    for (double exponent = first; exponent <= std::log10(high) + 2; ++exponent) {
      for (const double factor : factors) {
        marks.push_back(factor * std::pow(10, exponent));
      }
    }
    // From the last mark at or below low to the first at or above high, which differ.
    const auto above = std::upper_bound(marks.begin(), marks.end(), low * (1 + 1e-9)) - 1;
    auto end = std::lower_bound(marks.begin(), marks.end(), high * (1 - 1e-9));
    end += end == above ? 1 : 0;
    axis = Axis{Scale::kLog, *above, *end, {above, end + 1}};
    if (axis.ticks.size() <= static_cast<size_t>(most_ticks)) {
      break;
    }
  }
  return axis;
}

}  // namespace

double Axis::position(double value, double from, double to) const {
  const double share = scale == Scale::kLinear ? (value - low) / (high - low)
                                               : std::log2(value / low) / std::log2(high / low);
  return from + share * (to - from);
}

Axis nice_axis(Scale scale, double low, double high, int most_ticks) {
  BRIGADE_CHECK(std::isfinite(low) && std::isfinite(high) && low <= high && most_ticks >= 2,
                "an axis needs a finite range and two ticks",
                low,
                high,
                most_ticks);
  Axis axis = scale == Scale::kLinear ? linear_axis(low, high, most_ticks)
              : scale == Scale::kLog2 ? log2_axis(low, high, most_ticks)
                                      : decade_axis(low, high, most_ticks);
  // The last bits of a rounded tick must not shut out the number it was made for.
  axis.low = std::min(axis.low, low);
  axis.high = std::max(axis.high, high);
  return axis;
}

std::string tick_text(const Axis& axis, double tick) {
  if (axis.scale == Scale::kLog2) {
    return tick < 1 ? concat("1/", fixed(1 / tick, 0)) : fixed(tick, 0);
  }
  if (axis.scale == Scale::kLog) {
    return significant(tick, 1);
  }
  const double step = axis.ticks.size() > 1 ? axis.ticks[1] - axis.ticks[0] : 1;
  return fixed(tick, std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9))));
}

double tick_width(const Axis& axis) {
  double width = 0;
  for (const double tick : axis.ticks) {
    width = std::max(width, text_width(tick_text(axis, tick), kFontPx));
  }
  return width;
}

void draw_x_axis(Svg& svg, const Frame& frame, const Axis& x, std::string_view x_label) {
  for (const double tick : x.ticks) {
    const double at = x.position(tick, frame.first(), frame.last());
    svg.line({at, frame.top}, {at, frame.bottom}, "grid");
    svg.label({at, frame.bottom + 17}, tick_text(x, tick), Anchor::kMiddle);
  }
  svg.line({frame.left, frame.bottom}, {frame.right, frame.bottom}, "base");
  svg.label({(frame.left + frame.right) / 2, frame.bottom + 36}, x_label, Anchor::kMiddle, "name");
}

void draw_axes(Svg& svg,
               const Frame& frame,
               const Axis& x,
               std::string_view x_label,
               const Axis& y,
               std::string_view y_label) {
  for (const double tick : y.ticks) {
    const double at = y.position(tick, frame.bottom, frame.top);
    svg.line({frame.left, at}, {frame.right, at}, "grid");
    svg.label({frame.left - 8, at + 4}, tick_text(y, tick), Anchor::kEnd);
  }
  svg.label({2, 13}, y_label, Anchor::kStart, "name");
  draw_x_axis(svg, frame, x, x_label);
}

}  // namespace brigade::report
