// SPDX-License-Identifier: Apache-2.0
/// The laws that step times are held against, each as a sum of terms that a fit can find.
///
///   for (const Law& law : laws(Scaling::kStrong)) { if (law.why_not.empty()) ... }
///
/// N counts ranks from one, whatever the smallest size measured. With strong scaling speed-up is
/// T(1) / T(N). With weak scaling N ranks do N times the work, and it is N T(1) / T(N).
///
///   Amdahl      strong  S = 1 / (f + (1 - f) / N)
///   Gustafson   weak    S = N - f (N - 1)
///   USL         both    S = N / (1 + sigma (N - 1) + kappa N (N - 1)); Gunther 2007
///   costs       any     T = A + B / N + C log2 N + D N, none negative
///
/// Thread safety: values, pure functions.
#pragma once

#include <string>
#include <vector>

#include "trainer/scaling/least_squares.h"
#include "trainer/scaling/results.h"

namespace brigade::scaling {

struct LawParameter {
  std::string name = "";
  Interval possible = {};  ///< by its meaning: 0 to 1 of a fraction
};

struct Law {
  std::string name = "";
  std::string formula = "";
  std::string why_not = "";  ///< "" when it speaks of this kind of scaling
  std::vector<LawParameter> parameters = {};
  bool inverse = false;  ///< the terms add up to 1 / T(N) rather than to T(N)

  Terms (*terms)(double ranks) = nullptr;
  /// The parameters from the terms' coefficients; not finite where these mean nothing.
  Terms (*values)(const Terms& coefficients) = nullptr;

  double step_ms(double ranks, const Terms& coefficients) const;
};

/// All four; those that do not apply to this scaling say so.
std::vector<Law> laws(Scaling scaling);

}  // namespace brigade::scaling
