// SPDX-License-Identifier: Apache-2.0
/// Rows of ticks over one axis that begins at 0: values of several things of one kind, say of
/// ranks.
///
///   DotRows chart{"Memory", "...", "peak memory (MiB)", {{"dp, 2 ranks", {181.2, 183.9}, 0}}};
///   std::string svg = draw(chart, 504);
///
/// A thin bar runs to the largest, which has a marker. Numbers that are not finite are left out;
/// without any, the text is empty. Thread safety: pure.
#pragma once

#include <string>
#include <vector>

#include "trainer/report/svg.h"

namespace brigade::report {

struct DotRow {
  std::string label = "";
  std::vector<double> values = {};
  size_t style = 0;     ///< colour and marker
  bool hollow = false;  ///< to be taken with care
  bool apart = false;   ///< begins a group: some room above
};

struct DotRows {
  std::string title = "";
  std::string description = "";
  std::string x_label = "";
  std::vector<DotRow> rows = {};
};

/// The height follows from the rows; below 440 pixels their labels stand above the ticks.
std::string draw(const DotRows& chart, double width);

}  // namespace brigade::report
