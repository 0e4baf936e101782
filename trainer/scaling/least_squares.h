// SPDX-License-Identifier: Apache-2.0
/// Least squares on the logarithm of a sum of terms: log y ~ log(c0 t0(N) + c1 t1(N) + ...).
///
///   LogProblem problem = {.terms = 2};
///   problem.add({1.0 / ranks, 1.0}, std::log(step_ms), 7.0);
///   std::optional<Terms> c = fit_nonnegative(problem);
///
/// A term's coefficient has the unit of y. Levenberg-Marquardt from the solution for relative
/// errors; columns are scaled, so units of terms play no part. Thread safety: pure functions. Cost:
/// some microseconds for ten rows.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace brigade::scaling {

inline constexpr size_t kMaxTerms = 4;

/// One number for each term; those behind the problem's `terms` are 0.
using Terms = std::array<double, kMaxTerms>;

struct LogProblem {
  size_t terms = 0;  ///< 1 to kMaxTerms
  std::vector<Terms> rows = {};
  std::vector<double> logs = {};     ///< of the values to be met
  std::vector<double> weights = {};  ///< 1 / variance, up to a factor

  void add(const Terms& row, double log, double weight);

  /// `row` summed with these coefficients.
  static double sum(const Terms& row, const Terms& coefficients);

  /// Weighted sum of squares of what the coefficients miss; infinite where a sum is not positive.
  double miss(const Terms& coefficients) const;
};

/// Coefficients of any sign whose sums are positive at each row. None when rows do not determine
/// them (too few, or terms that look alike), or when there is no such minimum.
std::optional<Terms> fit_free(const LogProblem& problem);

/// The same from coefficients that are nearly right: a few times faster.
std::optional<Terms> fit_free(const LogProblem& problem, const Terms& start);

/// The best coefficients of which none is negative. None when rows do not determine them.
std::optional<Terms> fit_nonnegative(const LogProblem& problem);

}  // namespace brigade::scaling
