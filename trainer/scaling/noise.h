// SPDX-License-Identifier: Apache-2.0
/// How much repeats of one size differ, when there are too few of them to ask each size alone.
///
///   Noise noise = noise_within(sizes);
///   weight = repeats / (noise.sd[size] * noise.sd[size]);
///
/// Sizes lend each other their spread: a size's variance is its own, drawn towards that of all, by
/// as much as their differences are what chance alone would bring (empirical Bayes; Smyth 2004).
/// Seven repeats give a variance within a factor of two; ten sizes with seven each, within a third.
///
/// Thread safety: pure functions.
#pragma once

#include <vector>

#include "trainer/scaling/sample.h"

namespace brigade::scaling {

struct Noise {
  std::vector<double> sd = {};    ///< of one repeat's log time, by size; positive
  std::vector<double> pool = {};  ///< all repeats' deviations in units of their size's sd
  double freedom = 0;             ///< of each sd, in degrees; 0: repeats are too few to tell
};

/// From what repeats differ by at their own size. Without enough of them (five more than sizes) sd
/// is 1 everywhere and the pool is empty.
Noise noise_within(const std::vector<Size>& sizes);

/// How far out 95 % of Student's t lie, over that of a normal distribution: 2.18 / 1.96 for 12.
double small_sample_factor(double freedom);

/// Whether chance alone gives a ratio of variances as large as this in less than 5 % of cases.
bool is_significant(double ratio, double freedom_above, double freedom_below);

}  // namespace brigade::scaling
