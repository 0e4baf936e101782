// SPDX-License-Identifier: Apache-2.0
/// Scaling laws fitted to step times.
///
///   std::vector<Fit> fits = fit_laws({{1, {99, 101}}, {2, {52, 51}}, ...}, Scaling::kStrong, 1);
///
/// Weighted least squares on the logarithm of the step time of all repeats; a size's weight is its
/// repeats over their variance. Each law of laws.h has a Fit, in their order; one that does not
/// apply, or that the times do not determine, says why and is otherwise empty.
/// Intervals: bootstrap_fit.h. Curves end at 4 times the largest size.
///
/// AICc compares laws of one series: lower is better, by 2 hardly, by 10 clearly. The noise counts
/// as a parameter, repeats as observations.
///
/// Thread safety: pure functions. The same seed gives the same fits. Cost: a few ms a law.
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/scaling/laws.h"
#include "trainer/scaling/results.h"
#include "trainer/scaling/sample.h"

namespace brigade::scaling {

inline constexpr size_t kLeastSizes = 5;
inline constexpr double kFarthest = 4;  ///< times the largest size: no curve or prediction beyond

Fit fit_law(const Law& law, const std::vector<Sample>& samples, uint64_t seed);

/// Of all laws.
std::vector<Fit> fit_laws(const std::vector<Sample>& samples, Scaling scaling, uint64_t seed);

}  // namespace brigade::scaling
