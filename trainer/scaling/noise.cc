// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/noise.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/trigamma.hpp>

namespace brigade::scaling {
namespace {

constexpr double kLeastFreedom = 5.0;
// Clocks tick: equal times do not mean that there is no noise. Relative.
constexpr double kLeastSd = 1e-9;
// Ties in one size do not either.
constexpr double kLeastShareOfVariance = 0.01;
// From here on Student's t is normal for any purpose.
constexpr double kManyDegrees = 1e4;

double squares(const Size& size) {
  double sum = 0.0;
  for (const double log : size.logs) {
    sum += (log - size.mean) * (log - size.mean);
  }
  return sum;
}

// x for which trigamma(x) = y, from its first two asymptotic terms: 1 / x + 1 / (2 x^2).
double inverse_trigamma(double y) {
  return (1.0 + std::sqrt(1.0 + 2.0 * y)) / (2.0 * y);
}

// Degrees of freedom that the common variance is worth beside a size's own: many when logarithms of
// variances differ no more than chance makes them.
double degrees_of_common(const std::vector<Size>& sizes, double common) {
  std::vector<double> logs;
  double by_chance = 0.0;
  for (const Size& size : sizes) {
    const double own = size.repeats() - 1.0;
    if (own >= 1.0) {
      logs.push_back(std::log(std::max(squares(size) / own, kLeastShareOfVariance * common)));
      by_chance += boost::math::trigamma(own / 2.0);
    }
  }
  const auto count = static_cast<double>(logs.size());
  if (count < 2.0) {
    return kManyDegrees;
  }
  const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / count;
  double spread = 0.0;
  for (const double log : logs) {
    spread += (log - mean) * (log - mean) / (count - 1.0);
  }
  const double excess = spread - by_chance / count;
  return excess <= 2.0 / kManyDegrees ? kManyDegrees : 2.0 * inverse_trigamma(excess);
}

}  // namespace

Noise noise_within(const std::vector<Size>& sizes) {
  double freedom = 0.0;
  double sum = 0.0;
  for (const Size& size : sizes) {
    freedom += size.repeats() - 1.0;
    sum += squares(size);
  }
  if (freedom < kLeastFreedom) {
    return {.sd = std::vector<double>(sizes.size(), 1.0), .pool = {}, .freedom = 0.0};
  }
  const double common = std::max(sum / freedom, kLeastSd * kLeastSd);
  const double lent = degrees_of_common(sizes, common);
  Noise noise = {.sd = {},
                 .pool = {},
                 .freedom = std::min(freedom, lent + freedom / static_cast<double>(sizes.size()))};
  for (const Size& size : sizes) {
    const double own = size.repeats() - 1.0;
    noise.sd.push_back(std::sqrt((lent * common + squares(size)) / (lent + own)));
    for (const double log : size.logs) {
      if (own >= 1.0) {
        // A mean of few follows them: their distances from it are too small.
        const double widened = (log - size.mean) * std::sqrt(size.repeats() / own);
        noise.pool.push_back(widened / noise.sd.back());
      }
    }
  }
  return noise;
}

double small_sample_factor(double freedom) {
  if (freedom >= kManyDegrees) {
    return 1.0;
  }
  const double t = boost::math::quantile(boost::math::students_t(freedom), 0.975);
  return t / boost::math::quantile(boost::math::normal(), 0.975);
}

bool is_significant(double ratio, double freedom_above, double freedom_below) {
  const boost::math::fisher_f chance(freedom_above, freedom_below);
  return ratio > boost::math::quantile(chance, 0.95);
}

}  // namespace brigade::scaling
