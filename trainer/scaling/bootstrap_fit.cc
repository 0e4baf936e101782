// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/bootstrap_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parallel/base/text.h"
#include "trainer/scaling/draws.h"
#include "trainer/scaling/statistics.h"

namespace brigade::scaling {
namespace {

constexpr size_t kDraws = 1000;
constexpr size_t kLeastDraws = 900;  // of which a fit was found
constexpr Terms kNone = {std::numeric_limits<double>::quiet_NaN()};

// Deviations of single repeats around the fitted curve, in units of their size's spread.
struct Deviations {
  std::vector<double> pool = {};
  double widening = 1;
};

double repeats_of(const std::vector<Size>& sizes) {
  double sum = 0.0;
  for (const Size& size : sizes) {
    sum += size.repeats();
  }
  return sum;
}

bool are_finite(const Terms& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

double log_sum(const LogProblem& problem, size_t row, const Terms& coefficients) {
  return std::log(LogProblem::sum(problem.rows[row], coefficients));
}

Deviations from_repeats(const LogProblem& problem, const Noise& noise, const Terms& center) {
  Deviations deviations = {.pool = noise.pool, .widening = small_sample_factor(noise.freedom)};
  const auto spare = static_cast<double>(problem.rows.size() - problem.terms);
  if (spare > 0.0) {
    const double ratio = problem.miss(center) / spare;
    if (is_significant(ratio, spare, noise.freedom)) {
      deviations.widening = std::sqrt(ratio) * small_sample_factor(spare);
    }
  }
  return deviations;
}

// Repeats of one size miss the curve together, so only sizes count as degrees of freedom.
Deviations from_misses(const Law& law,
                       const std::vector<Size>& sizes,
                       const LogProblem& problem,
                       const Terms& center) {
  const double spare = static_cast<double>(problem.rows.size() - problem.terms);
  Deviations deviations = {.pool = {}, .widening = small_sample_factor(std::max(spare, 1.0))};
  const double repeats = repeats_of(sizes);
  const double widened = std::sqrt(repeats / (repeats - static_cast<double>(problem.terms)));
  for (size_t row = 0; row < sizes.size(); ++row) {
    for (const double log : sizes[row].logs) {
      const double miss = (law.inverse ? -log : log) - log_sum(problem, row, center);
      deviations.pool.push_back(widened * miss);
    }
  }
  return deviations;
}

// Values of each parameter over all draws that could be fitted.
std::vector<std::vector<double>> draw_values(const Law& law,
                                             const std::vector<Size>& sizes,
                                             const Deviations& deviations,
                                             LogProblem problem,
                                             const Terms& center,
                                             Draws draws) {
  std::vector<double> curve;
  std::vector<double> scale;
  for (size_t row = 0; row < sizes.size(); ++row) {
    curve.push_back(log_sum(problem, row, center));
    // A row's weight is its repeats over their variance: this is their spread over their number.
    scale.push_back(deviations.widening / std::sqrt(problem.weights[row] * sizes[row].repeats()));
  }
  std::vector<std::vector<double>> values(law.parameters.size());
  for (size_t draw = 0; draw < kDraws; ++draw) {
    for (size_t row = 0; row < sizes.size(); ++row) {
      double sum = 0.0;
      for (size_t repeat = sizes[row].logs.size(); repeat > 0; --repeat) {
        sum += deviations.pool[draws.below(deviations.pool.size())];
      }
      problem.logs[row] = curve[row] + scale[row] * sum;
    }
    const std::optional<Terms> found = fit_free(problem, center);
    if (const Terms parameters = found ? law.values(*found) : kNone; are_finite(parameters)) {
      for (size_t index = 0; index < values.size(); ++index) {
        values[index].push_back(parameters[index]);
      }
    }
  }
  return values;
}

Estimate estimate_of(double best,
                     double center,
                     const std::vector<double>& draws,
                     Interval within) {
  const double low = quantile(draws, 0.025);
  const double high = quantile(draws, 0.975);
  const auto possible = [&](double value) { return std::clamp(value, within.low, within.high); };
  Interval interval = {.low = std::min(possible(low), best),
                       .high = std::max(possible(high), best)};
  if (best <= within.low) {
    interval.high = std::max(interval.high, possible(best + (high - center)));
  }
  if (best >= within.high) {
    interval.low = std::min(interval.low, possible(best - (center - low)));
  }
  return {.value = best, .interval = interval};
}

}  // namespace

LogProblem problem_of(const Law& law, const std::vector<Size>& sizes, const Noise& noise) {
  LogProblem problem = {.terms = law.parameters.size()};
  for (size_t size = 0; size < sizes.size(); ++size) {
    problem.add(law.terms(sizes[size].ranks),
                law.inverse ? -sizes[size].mean : sizes[size].mean,
                sizes[size].repeats() / (noise.sd[size] * noise.sd[size]));
  }
  return problem;
}

Result<std::vector<Parameter>> bootstrap(const Law& law,
                                         const std::vector<Size>& sizes,
                                         const Noise& noise,
                                         const Terms& best,
                                         uint64_t seed) {
  const LogProblem problem = problem_of(law, sizes, noise);
  const std::optional<Terms> center = fit_free(problem);
  const Terms values = law.values(best);
  const Terms centers = center ? law.values(*center) : kNone;
  if (!are_finite(values) || !are_finite(centers)) {
    return fail(ErrorCode::kData, "not identifiable: the times do not determine its parameters");
  }
  const Deviations deviations = noise.pool.empty() ? from_misses(law, sizes, problem, *center)
                                                   : from_repeats(problem, noise, *center);
  const auto draws = draw_values(law, sizes, deviations, problem, *center, Draws(seed, law.name));
  if (draws.front().size() < kLeastDraws) {
    return fail(ErrorCode::kData,
                concat("not identifiable: so noisy that of ",
                       kDraws,
                       " resampled fits at least ",
                       kLeastDraws,
                       " should succeed; found ",
                       draws.front().size()));
  }
  std::vector<Parameter> parameters;
  for (size_t index = 0; index < draws.size(); ++index) {
    const LawParameter& parameter = law.parameters[index];
    parameters.push_back(
        {.name = parameter.name,
         .estimate = estimate_of(values[index], centers[index], draws[index], parameter.possible)});
  }
  return parameters;
}

}  // namespace brigade::scaling
