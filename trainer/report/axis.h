// SPDX-License-Identifier: Apache-2.0
/// An axis: a range that ends on round numbers, its ticks, and where a value lies.
///
///   Axis axis = nice_axis(Scale::kLinear, 0, 87.3, 6);   // 0, 20, 40, 60, 80, 100
///   double y = axis.position(42, bottom, top);
///
/// Thread safety: pure.
#pragma once

#include <string>
#include <vector>

#include "trainer/report/svg.h"

namespace brigade::report {

enum class Scale {
  kLinear,
  kLog2,  ///< ticks at powers of two; values must be positive
  kLog    ///< ticks at 1, 2 and 5 times powers of ten; values must be positive
};

struct Axis {
  Scale scale = Scale::kLinear;
  double low = 0;
  double high = 1;
  std::vector<double> ticks = {};  ///< ascending, within the range

  /// Where `value` lies between the pixels `from` (at low) and `to` (at high). May lie outside.
  double position(double value, double from, double to) const;
  bool holds(double value) const { return value >= low && value <= high; }
};

/// The smallest round range that holds low and high, with at most `most_ticks` (>= 2) ticks.
/// Requires finite numbers, low <= high; on logarithmic scales low > 0. Equal ones get room on
/// both sides.
Axis nice_axis(Scale scale, double low, double high, int most_ticks);

/// With as many decimals as tell the axis's ticks apart; on kLog2 those below 1 as "1/4".
std::string tick_text(const Axis& axis, double tick);

/// The rectangle in which a chart's data lie.
struct Frame {
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;
  double inset = 0;  ///< room at both ends of the x axis, for markers

  double first() const { return left + inset; }
  double last() const { return right - inset; }
};

/// Grid lines, tick texts and labels with their units: the y label above, the x label below.
void draw_axes(Svg& svg,
               const Frame& frame,
               const Axis& x,
               std::string_view x_label,
               const Axis& y,
               std::string_view y_label);
/// The x axis alone.
void draw_x_axis(Svg& svg, const Frame& frame, const Axis& x, std::string_view x_label);

/// What the widest tick text of an axis takes.
double tick_width(const Axis& axis);

}  // namespace brigade::report
