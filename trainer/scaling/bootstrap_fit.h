// SPDX-License-Identifier: Apache-2.0
/// How well repeats determine a law's parameters: 95 % intervals by a residual bootstrap.
///
///   Noise noise = noise_within(sizes);
///   Result<std::vector<Parameter>> parameters = bootstrap(law, sizes, noise, best, 1);
///
/// Around the fitted curve, each size is given as many repeats as it had, drawn from the pool of
/// deviations of all sizes in units of their own spread, and the law is fitted anew, 1,000 times.
/// Three things keep the interval from being too narrow with few repeats:
///  - deviations are widened by what a fit or a mean takes from them, and by Student's t;
///  - where sizes miss the curve by more than their repeats explain, the law is not the whole
///    truth: deviations are widened by that ratio, with the degrees of freedom of sizes alone;
///  - draws are fitted without bounds and the interval is then cut at them. Bounded draws pile up
///    at a bound and shift the other parameters, and their percentiles hold less than they say. A
///    parameter found at its bound keeps the width that noise gives it, inwards.
/// Without repeats, deviations are what the curve misses.
///
/// Thread safety: pure functions. Cost: 5 ms.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/scaling/laws.h"
#include "trainer/scaling/noise.h"
#include "trainer/scaling/sample.h"

namespace brigade::scaling {

/// Least squares of a law on all repeats, as one row a size: the minimum is the same.
LogProblem problem_of(const Law& law, const std::vector<Size>& sizes, const Noise& noise);

/// Parameters at `best`, the coefficients with bounds, and their intervals. kData when the times do
/// not determine them.
Result<std::vector<Parameter>> bootstrap(const Law& law,
                                         const std::vector<Size>& sizes,
                                         const Noise& noise,
                                         const Terms& best,
                                         uint64_t seed);

}  // namespace brigade::scaling
