// SPDX-License-Identifier: Apache-2.0
/// The order in which a study runs its points: each round of repeats runs every point once, in a
/// shuffled order of its own, so that what changes on a machine with time falls on all of them.
///
///   for (const Turn& turn : order_of(grid.points.size(), study.repeats, study.seed)) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace brigade::study {

struct Turn {
  size_t point = 0;
  int64_t repeat = 0;  ///< from 0

  bool operator==(const Turn&) const = default;
};

/// Depends on its arguments alone; another number of repeats keeps the rounds that both have.
std::vector<Turn> order_of(size_t points, int64_t repeats, uint64_t seed);

}  // namespace brigade::study
