// SPDX-License-Identifier: Apache-2.0
/// A table of cells, the darker the larger their number (by its square root, so that small ones
/// show).
///
///   HeatMap map{"Rank x part", "...", "rank", {"compute", "idle"}, {"0", "1"}, {{9, 8}, {1, 2}}};
///   std::string svg = draw(map, 504);
///
/// `values[row][column]`; a number that is not finite, or 0, is an empty cell. Numbers stand in the
/// cells where they fit. No rows or columns: an empty text. Thread safety: pure.
#pragma once

#include <string>
#include <vector>

#include "trainer/report/svg.h"

namespace brigade::report {

struct HeatMap {
  std::string title = "";
  std::string description = "";
  std::string column_label = "";
  std::vector<std::string> rows = {};
  std::vector<std::string> columns = {};
  std::vector<std::vector<double>> values = {};
};

/// The height follows from the rows.
std::string draw(const HeatMap& map, double width);

/// The CSS class of a cell that holds `share` (0 to 1) of the largest number: "h0" to "h10".
std::string heat_class(double share);

}  // namespace brigade::report
