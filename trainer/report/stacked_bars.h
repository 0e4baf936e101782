// SPDX-License-Identifier: Apache-2.0
/// Rows of stacked bars, each cut into the shares of its whole: where something goes.
///
///   StackedBars chart{"Step", "...", {"compute", "bubble"}, {{"dp, 2 ranks", {40, 9}, "49 ms"}}};
///   std::string svg = draw(chart, 504);
///
/// Part i has area colour i of the palette. Every bar fills the width, whatever its whole is, which
/// `total` says beside it. Numbers that are not above 0 or not finite take no room. No rows: an
/// empty text. Thread safety: pure.
#pragma once

#include <string>
#include <vector>

#include "trainer/report/svg.h"

namespace brigade::report {

struct BarRow {
  std::string label = "";
  std::vector<double> parts = {};
  std::string total = "";  ///< stands beside the bar
  bool apart = false;      ///< begins a group: some room above
};

struct StackedBars {
  std::string title = "";
  std::string description = "";
  std::string x_label = "";
  std::vector<std::string> parts = {};
  std::vector<BarRow> rows = {};
};

/// The height follows from the rows; below 600 pixels their labels stand above the bars.
std::string draw(const StackedBars& chart, double width);

}  // namespace brigade::report
