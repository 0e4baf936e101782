// SPDX-License-Identifier: Apache-2.0
/// A figure of a page: heading, legend, drawing, note, and the numbers behind it.
///
///   to_html(Figure{"speed-up", "Speed-up", legend(...), [&](double width) { ... }, "...", table})
///
/// The drawing is made twice, for wide and for narrow screens, so that its text keeps its size.
/// Thread safety: pure.
#pragma once

#include <functional>
#include <string>

#include "trainer/report/table.h"

namespace brigade::report {

inline constexpr double kNarrowWidth = 356;
inline constexpr double kHalfWidth = 500;  ///< of two figures beside each other
inline constexpr double kFullWidth = 1064;

struct Figure {
  std::string id = "";  ///< names its files: "speed-up.csv"
  std::string heading = "";
  std::string legend = "";                  ///< HTML
  std::function<std::string(double)> draw;  ///< SVG of this width; "": there is nothing to draw
  std::string note = "";                    ///< text
  Table table = {};
  bool full_width = false;
};

/// "" when there is nothing to draw.
std::string to_html(const Figure& figure);

/// Table and link behind a line that opens them.
std::string details(const std::string& id, const Table& table);

}  // namespace brigade::report
