// SPDX-License-Identifier: Apache-2.0
/// Medians and how far they can be trusted.
///
///   Estimate step = median_of_repeats({{10.1, 10.3, 10.2}, {11.0, 10.9, 11.2}}, seed);
///
/// Intervals are bootstrap percentiles of 2,000 draws and hold 95 %; the same seed gives the same
/// interval. Steps of one run share its luck (placement, neighbours, clocks), so those of several
/// runs are resampled in two stages, runs first: many steps of few runs do not make it narrow. One
/// run alone says nothing of how runs differ, and its interval is that of its steps.
///
/// All samples are non-empty and finite. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trainer/scaling/results.h"

namespace brigade::scaling {

/// Linear between order statistics; `share` in [0, 1], 0.5 is the median.
double quantile(std::vector<double> sample, double share);

/// Of an even number of values: the mean of the middle two.
double median(std::vector<double> sample);

/// Median and its interval, values taken as independent.
Estimate median_of(std::span<const double> sample, uint64_t seed);

/// Median of all values of all repeats and its interval, repeats taken as independent.
Estimate median_of_repeats(const std::vector<std::vector<double>>& repeats, uint64_t seed);

/// The stretches of `repeats` runs that follow each other in `sample`. Their lengths differ by one
/// at most; there are never more of them than values, and at least one.
std::vector<std::vector<double>> split_repeats(std::span<const double> sample, int64_t repeats);

}  // namespace brigade::scaling
