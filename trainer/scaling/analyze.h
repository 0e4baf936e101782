// SPDX-License-Identifier: Apache-2.0
/// What follows from what was measured: medians, series, and what each series tells of scaling.
///
///   Results results = ...;  // points, with their step times and breakdowns
///   analyze(results);       // series, fits, ratios
///
/// Fills, from `points`, the members of `series`, `provenance.seed` and `scaling` alone:
///  - each point's median_step_ms, and the interval of tokens_per_s by it, where they are not set;
///  - the points of each series, the fewest ranks first; where no series is given, points of one
///    Point::series make one, in the order in which they name them. Failed points and those without
///    step times are in none. A point with a step time that is not a positive number is marked as
///    failed;
///  - in each series fits of the medians of repeats, Karp and Flatt's fraction from the smallest
///    size on, and what breakdowns tell, where they were recorded.
///
/// Calling it again changes nothing. Thread safety: that of `results`. Cost: some ten milliseconds
/// a point and as much a series.
#pragma once

#include "trainer/scaling/results.h"

namespace brigade::scaling {

void analyze(Results& results);

}  // namespace brigade::scaling
