// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/least_squares.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "parallel/base/check.h"

namespace brigade::scaling {
namespace {

// Always of kMaxTerms: what lies behind the problem's terms is zero, and stays zero in each step.
using Vector = Eigen::Matrix<double, kMaxTerms, 1>;
using Matrix = Eigen::Matrix<double, kMaxTerms, kMaxTerms>;

constexpr int kMaxIterations = 100;
// A step is the last when it would change log y by less than this, far below any noise, or the miss
// by a share of which the square is lost in rounding.
constexpr double kLeastChange = 1e-9;
constexpr double kLeastShare = 1e-10;
constexpr double kLeastPivot = 1e-12;  // of the scaled normal matrix

struct Normal {
  Matrix matrix;
  Vector gradient;
};

Vector vector_of(const Terms& terms) {
  return Vector(terms.data());
}

Terms terms_of(const Vector& vector) {
  Terms terms = {};
  Eigen::Map<Vector>(terms.data()) = vector;
  return terms;
}

double total_weight(const LogProblem& problem) {
  double total = 0.0;
  for (const double weight : problem.weights) {
    total += weight;
  }
  return total;
}

// Rows are divided by `scale(row)`; what they shall meet is `target(row)`.
template <class Scale, class Target>
Normal normal_equations(const LogProblem& problem, Scale scale, Target target) {
  Normal normal = {.matrix = Matrix::Zero(), .gradient = Vector::Zero()};
  for (size_t row = 0; row < problem.rows.size(); ++row) {
    const Vector slope = vector_of(problem.rows[row]) / scale(row);
    normal.matrix.noalias() += problem.weights[row] * slope * slope.transpose();
    normal.gradient.noalias() += problem.weights[row] * target(row) * slope;
  }
  for (size_t absent = problem.terms; absent < kMaxTerms; ++absent) {
    const auto place = static_cast<Eigen::Index>(absent);
    normal.matrix(place, place) = 1.0;
  }
  return normal;
}

// The step that solves the equations with `damping` on the diagonal; none when singular.
std::optional<Vector> solve(const Normal& normal, double damping) {
  const Vector scale = normal.matrix.diagonal().cwiseSqrt();
  if (!(scale.minCoeff() > 0.0)) {
    return std::nullopt;
  }
  Matrix scaled = scale.asDiagonal().inverse() * normal.matrix * scale.asDiagonal().inverse();
  scaled.diagonal().array() += damping;
  const Eigen::LDLT<Matrix> factors(scaled);
  if (factors.info() != Eigen::Success || !(factors.vectorD().minCoeff() > kLeastPivot)) {
    return std::nullopt;
  }
  return Vector(factors.solve(normal.gradient.cwiseQuotient(scale)).cwiseQuotient(scale));
}

std::optional<Terms> minimize(const LogProblem& problem, Terms at) {
  const double least = kLeastChange * kLeastChange * total_weight(problem);
  double miss = problem.miss(at);
  double damping = 0.0;
  for (int iteration = 0; iteration < kMaxIterations && std::isfinite(miss); ++iteration) {
    const auto sum = [&](size_t row) { return LogProblem::sum(problem.rows[row], at); };
    const Normal normal = normal_equations(
        problem, sum, [&](size_t row) { return problem.logs[row] - std::log(sum(row)); });
    const std::optional<Vector> step = solve(normal, damping);
    if (!step) {
      return std::nullopt;
    }
    const Terms next = terms_of(vector_of(at) + *step);
    if (damping == 0.0 && step->dot(normal.matrix * *step) <= std::max(least, kLeastShare * miss)) {
      return next;
    }
    const double next_miss = problem.miss(next);
    if (next_miss <= miss) {
      at = next;
      miss = next_miss;
      damping = damping < 1e-6 ? 0.0 : damping / 10.0;
    } else if (damping < 1e9) {
      damping = damping == 0.0 ? 1e-4 : damping * 10.0;
    } else {
      return at;  // no step helps: rounding is all that is left
    }
  }
  return std::nullopt;
}

// Where relative errors are least; where that is not positive everywhere, all terms alike.
std::optional<Terms> relative_start(const LogProblem& problem) {
  const Normal normal = normal_equations(
      problem, [&](size_t row) { return std::exp(problem.logs[row]); }, [](size_t) { return 1.0; });
  const std::optional<Vector> solution = solve(normal, 0.0);
  if (!solution) {
    return std::nullopt;
  }
  if (const Terms start = terms_of(*solution); std::isfinite(problem.miss(start))) {
    return start;
  }
  const double share = 1.0 / static_cast<double>(problem.terms);
  Terms alike = {};
  for (size_t term = 0; term < problem.terms; ++term) {
    const auto place = static_cast<Eigen::Index>(term);
    alike[term] = share * std::sqrt(total_weight(problem) / normal.matrix(place, place));
  }
  return alike;
}

// The problem of the terms whose bit is set in `kept`.
LogProblem with_terms(const LogProblem& problem, size_t kept) {
  LogProblem part = {.terms = 0, .rows = {}, .logs = problem.logs, .weights = problem.weights};
  part.rows.resize(problem.rows.size());
  for (size_t term = 0; term < problem.terms; ++term) {
    if ((kept >> term & 1U) != 0) {
      for (size_t row = 0; row < problem.rows.size(); ++row) {
        part.rows[row][part.terms] = problem.rows[row][term];
      }
      ++part.terms;
    }
  }
  return part;
}

Terms in_place(const Terms& of_part, size_t kept) {
  Terms whole = {};
  size_t next = 0;
  for (size_t term = 0; term < kMaxTerms; ++term) {
    if ((kept >> term & 1U) != 0) {
      whole[term] = of_part[next++];
    }
  }
  return whole;
}

bool none_negative(const Terms& terms) {
  for (const double term : terms) {
    if (!(term >= 0.0)) {
      return false;
    }
  }
  return true;
}

}  // namespace

void LogProblem::add(const Terms& row, double log, double weight) {
  rows.push_back(row);
  logs.push_back(log);
  weights.push_back(weight);
}

double LogProblem::sum(const Terms& row, const Terms& coefficients) {
  double total = 0.0;
  for (size_t term = 0; term < kMaxTerms; ++term) {
    total += row[term] * coefficients[term];
  }
  return total;
}

double LogProblem::miss(const Terms& coefficients) const {
  double total = 0.0;
  for (size_t row = 0; row < rows.size(); ++row) {
    const double value = sum(rows[row], coefficients);
    if (!(value > 0.0)) {
      return std::numeric_limits<double>::infinity();
    }
    const double miss = logs[row] - std::log(value);
    total += weights[row] * miss * miss;
  }
  return total;
}

std::optional<Terms> fit_free(const LogProblem& problem) {
  BRIGADE_CHECK(problem.terms >= 1 && problem.terms <= kMaxTerms, problem.terms);
  const std::optional<Terms> start = relative_start(problem);
  return start ? minimize(problem, *start) : std::nullopt;
}

std::optional<Terms> fit_free(const LogProblem& problem, const Terms& start) {
  return minimize(problem, start);
}

std::optional<Terms> fit_nonnegative(const LogProblem& problem) {
  const std::optional<Terms> unbounded = fit_free(problem);
  if (unbounded && none_negative(*unbounded)) {
    return unbounded;
  }
  // A term at its bound is a term left out. With four terms at most, all choices can be tried.
  std::optional<Terms> best;
  const size_t all = (1U << problem.terms) - 1;
  for (size_t kept = 1; kept < all; ++kept) {
    const std::optional<Terms> part = fit_free(with_terms(problem, kept));
    if (part && none_negative(*part)) {
      const Terms whole = in_place(*part, kept);
      if (!best || problem.miss(whole) < problem.miss(*best)) {
        best = whole;
      }
    }
  }
  return best;
}

}  // namespace brigade::scaling
