// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/fit.h"

#include <algorithm>
#include <cmath>

#include "parallel/base/text.h"
#include "trainer/scaling/bootstrap_fit.h"
#include "trainer/scaling/noise.h"
#include "trainer/scaling/statistics.h"

namespace brigade::scaling {
namespace {

constexpr size_t kCurvePoints = 65;
// Below this a fit is exact; its logarithm would be that of rounding errors.
constexpr double kLeastMeanSquare = 1e-24;

double repeats_of(const std::vector<Size>& sizes) {
  double sum = 0.0;
  for (const Size& size : sizes) {
    sum += size.repeats();
  }
  return sum;
}

// Minus twice the log likelihood of normal deviations whose common factor is fitted too, without
// the constants that all laws share, and what AICc adds for `parameters` and that factor.
double aicc(const Law& law,
            const std::vector<Size>& sizes,
            const Noise& noise,
            const Terms& coefficients) {
  double squares = 0.0;
  double weights = 0.0;
  for (size_t row = 0; row < sizes.size(); ++row) {
    const double curve = std::log(law.step_ms(sizes[row].ranks, coefficients));
    const double weight = 1.0 / (noise.sd[row] * noise.sd[row]);
    for (const double log : sizes[row].logs) {
      squares += weight * (log - curve) * (log - curve);
      weights += weight;
    }
  }
  const double count = repeats_of(sizes);
  const auto free = static_cast<double>(law.parameters.size() + 1);
  return count * std::log(std::max(squares / weights, kLeastMeanSquare)) + 2.0 * free +
         2.0 * free * (free + 1.0) / (count - free - 1.0);
}

// Each size is predicted from all others.
std::optional<double> held_out_error(const Law& law,
                                     const std::vector<Size>& sizes,
                                     const Noise& noise) {
  std::vector<double> errors;
  for (size_t left_out = 0; left_out < sizes.size(); ++left_out) {
    LogProblem problem = problem_of(law, sizes, noise);
    const auto place = static_cast<std::ptrdiff_t>(left_out);
    problem.rows.erase(problem.rows.begin() + place);
    problem.logs.erase(problem.logs.begin() + place);
    problem.weights.erase(problem.weights.begin() + place);
    const std::optional<Terms> coefficients = fit_nonnegative(problem);
    if (!coefficients) {
      return std::nullopt;
    }
    const Size& size = sizes[left_out];
    const double predicted = law.step_ms(size.ranks, *coefficients);
    const double found = std::exp(median(size.logs));
    errors.push_back(std::abs(predicted - found) / found);
  }
  return median(errors);
}

std::vector<std::pair<double, double>> curve_of(const Law& law,
                                                const std::vector<Size>& sizes,
                                                const Terms& coefficients) {
  const double first = sizes.front().ranks;
  const double last = kFarthest * sizes.back().ranks;
  std::vector<std::pair<double, double>> curve;
  for (size_t point = 0; point < kCurvePoints; ++point) {
    const double share = static_cast<double>(point) / static_cast<double>(kCurvePoints - 1);
    const double ranks = std::min(last, first * std::pow(last / first, share));
    curve.emplace_back(ranks, law.step_ms(ranks, coefficients));
  }
  return curve;
}

std::string too_few(const Law& law, const std::vector<Size>& sizes) {
  if (sizes.size() < kLeastSizes) {
    return concat("not identifiable: ",
                  counted(static_cast<int64_t>(sizes.size()), "size"),
                  ", needs ",
                  kLeastSizes,
                  " or more");
  }
  const size_t needed = law.parameters.size() + 3;
  if (const double found = repeats_of(sizes); found < static_cast<double>(needed)) {
    return concat("not identifiable: ",
                  found,
                  " step times, needs ",
                  needed,
                  " or more for its ",
                  law.parameters.size(),
                  " parameters and their noise");
  }
  return "";
}

// What the law's parameters, and all that follows from them, come to.
Result<void> fill(Fit& fit, const Law& law, const std::vector<Size>& sizes, uint64_t seed) {
  const Noise noise = noise_within(sizes);
  const std::optional<Terms> best = fit_nonnegative(problem_of(law, sizes, noise));
  const std::optional<double> held_out = held_out_error(law, sizes, noise);
  if (!best || !held_out) {
    return fail(ErrorCode::kData, "not identifiable: the times do not determine its parameters");
  }
  Result<std::vector<Parameter>> parameters = bootstrap(law, sizes, noise, *best, seed);
  if (!parameters) {
    return fail(parameters.error());
  }
  fit.parameters = std::move(*parameters);
  fit.aicc = aicc(law, sizes, noise, *best);
  fit.held_out_error = *held_out;
  fit.curve = curve_of(law, sizes, *best);
  return {};
}

}  // namespace

Fit fit_law(const Law& law, const std::vector<Sample>& samples, uint64_t seed) {
  Fit fit = {.law = law.name, .formula = law.formula, .why_not = law.why_not};
  if (!fit.why_not.empty()) {
    return fit;
  }
  const Result<std::vector<Size>> sizes = sizes_of(samples);
  if (!sizes) {
    fit.why_not = concat("not fitted: ", sizes.error().text);
    return fit;
  }
  fit.why_not = too_few(law, *sizes);
  if (fit.why_not.empty()) {
    if (const auto filled = fill(fit, law, *sizes, seed); !filled) {
      fit.why_not = filled.error().text;
    }
  }
  return fit;
}

std::vector<Fit> fit_laws(const std::vector<Sample>& samples, Scaling scaling, uint64_t seed) {
  std::vector<Fit> fits;
  for (const Law& law : laws(scaling)) {
    fits.push_back(fit_law(law, samples, seed));
  }
  return fits;
}

}  // namespace brigade::scaling
