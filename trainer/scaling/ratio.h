// SPDX-License-Identifier: Apache-2.0
/// Compute against exposed communication, axis by axis, and where they would be equal.
///
///   std::vector<Ratio> ratios = ratios_of({{2, breakdown}, {4, breakdown}});
///
/// R(N) = time in forward and backward / exposed time of one axis, means over ranks. At R = 1 an
/// axis costs as much as all compute. Sizes at which an axis has no exposed time have no ratio;
/// an axis that never has any is left out. R is taken as a power of N: lines on double logarithmic
/// paper between sizes, and beyond the last one the line of least squares' slope through it. What
/// lies beyond 4 times the largest size is not given, nor what one size alone would have to tell.
///
/// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "trainer/scaling/results.h"

namespace brigade::scaling {

/// The mean breakdown of a size.
struct SizedBreakdown {
  int64_t ranks = 1;
  Breakdown breakdown = {};
};

/// Fewest ranks first, each number once.
std::vector<Ratio> ratios_of(const std::vector<SizedBreakdown>& sizes);

/// N where the ratio crosses 1, the first if it does so more than once. `largest`: the most ranks
/// measured, with or without a ratio.
std::optional<double> equal_at(const std::vector<std::pair<int64_t, double>>& by_ranks,
                               int64_t largest);

}  // namespace brigade::scaling
