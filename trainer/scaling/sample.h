// SPDX-License-Identifier: Apache-2.0
/// Step times by number of ranks, checked and on a logarithmic scale: what a fit starts from.
///
///   Result<std::vector<Size>> sizes = sizes_of({{1, {99.1, 101.5}}, {2, {52.0, 51.1}}});
///
/// Thread safety: values, pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/base/result.h"

namespace brigade::scaling {

/// What one number of ranks took: one value a repeat, each the median of its steps.
struct Sample {
  int64_t ranks = 1;
  std::vector<double> ms = {};
};

/// The same as logarithms.
struct Size {
  double ranks = 1;
  std::vector<double> logs = {};  ///< of milliseconds, one a repeat; never empty
  double mean = 0;                ///< of `logs`

  double repeats() const { return static_cast<double>(logs.size()); }
};

/// Fewest ranks first, each number once: samples of equal ranks are put together. kData when a time
/// is not a positive number, ranks are fewer than one, or a sample is empty.
Result<std::vector<Size>> sizes_of(const std::vector<Sample>& samples);

}  // namespace brigade::scaling
