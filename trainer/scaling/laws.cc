// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/laws.h"

#include <cmath>
#include <limits>

namespace brigade::scaling {
namespace {

constexpr Interval kFraction = {.low = 0.0, .high = 1.0};
constexpr Interval kNotNegative = {.low = 0.0, .high = std::numeric_limits<double>::infinity()};

// What is relative to T1 means nothing when there is none.
Terms unless_without_t1(const Terms& values) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return values[0] > 0.0 && std::isfinite(values[0]) ? values : Terms{kNone, kNone, kNone, kNone};
}

Terms constant_and_share(double ranks) {
  return {1.0, 1.0 / ranks};
}

// Coefficients f T1 and (1 - f) T1 of 1 and 1 / N.
Terms amdahl_values(const Terms& c) {
  return unless_without_t1({c[0] + c[1], c[0] / (c[0] + c[1])});
}

Law amdahl(Scaling scaling) {
  Law law = {.name = "Amdahl",
             .formula = "T(N) = T1 ((1 - f) / N + f)",
             .parameters = {{"T1", kNotNegative}, {"f", kFraction}},
             .terms = constant_and_share,
             .values = amdahl_values};
  if (scaling != Scaling::kStrong) {
    law.why_not = "does not apply: its work is fixed, and here it grows with the ranks";
  }
  return law;
}

// Coefficients (1 - f) / T1 and f / T1 of 1 and 1 / N, which add up to 1 / T.
Terms gustafson_values(const Terms& c) {
  return unless_without_t1({1.0 / (c[0] + c[1]), c[1] / (c[0] + c[1])});
}

Law gustafson(Scaling scaling) {
  Law law = {.name = "Gustafson",
             .formula = "T(N) = T1 N / (N - f (N - 1))",
             .parameters = {{"T1", kNotNegative}, {"f", kFraction}},
             .inverse = true,
             .terms = constant_and_share,
             .values = gustafson_values};
  if (scaling == Scaling::kStrong) {
    law.why_not = "does not apply: its work grows with the ranks, and here it is fixed";
  } else if (scaling == Scaling::kMemoryConstrained) {
    law.why_not = "does not apply: its work is N times that of one rank, and here the model grows";
  }
  return law;
}

// Coefficients T1, T1 sigma, T1 kappa.
Terms usl_strong_terms(double ranks) {
  return {1.0 / ranks, (ranks - 1.0) / ranks, ranks - 1.0};
}
Terms usl_weak_terms(double ranks) {
  return {1.0, ranks - 1.0, ranks * (ranks - 1.0)};
}
Terms usl_values(const Terms& c) {
  return unless_without_t1({c[0], c[1] / c[0], c[2] / c[0]});
}

Law usl(Scaling scaling) {
  const bool weak = scaling == Scaling::kWeak;
  Law law = {.name = "USL",
             .formula = weak ? "T(N) = T1 (1 + sigma (N - 1) + kappa N (N - 1))"
                             : "T(N) = T1 (1 + sigma (N - 1) + kappa N (N - 1)) / N",
             .parameters = {{"T1", kNotNegative}, {"sigma", kNotNegative}, {"kappa", kNotNegative}},
             .terms = weak ? usl_weak_terms : usl_strong_terms,
             .values = usl_values};
  if (scaling == Scaling::kMemoryConstrained) {
    law.why_not = "does not apply: it compares throughputs of one model, and here the model grows";
  }
  return law;
}

Terms costs_terms(double ranks) {
  return {1.0, 1.0 / ranks, std::log2(ranks), ranks};
}
Terms costs_values(const Terms& c) {
  return c;
}

Law costs() {
  return {.name = "A + B/N + C log N + D N",
          .formula = "T(N) = A + B / N + C log2 N + D N",
          .parameters = {{"A", kNotNegative},
                         {"B", kNotNegative},
                         {"C", kNotNegative},
                         {"D", kNotNegative}},
          .terms = costs_terms,
          .values = costs_values};
}

}  // namespace

double Law::step_ms(double ranks, const Terms& coefficients) const {
  const double sum = LogProblem::sum(terms(ranks), coefficients);
  return inverse ? 1.0 / sum : sum;
}

std::vector<Law> laws(Scaling scaling) {
  return {amdahl(scaling), gustafson(scaling), usl(scaling), costs()};
}

}  // namespace brigade::scaling
