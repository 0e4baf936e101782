// SPDX-License-Identifier: Apache-2.0
/// Where the rows of a chart lie below each other. Internal to this module.
#pragma once

#include <vector>

namespace brigade::report {

/// Above a row that stands apart.
inline constexpr double kGroupGap = 10;

/// Of rows `pitch` apart.
template <class Row>
double rows_height(const std::vector<Row>& rows, double pitch) {
  double height = 0;
  for (const Row& row : rows) {
    height += pitch + (row.apart ? kGroupGap : 0);
  }
  return height;
}

}  // namespace brigade::report
