// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/bootstrap_fit.h"

#include <cmath>

#include <gtest/gtest.h>

#include "parallel/base/philox.h"

namespace brigade::scaling {
namespace {

// Amdahl's law with T1 = 100 and f = .2, with log-normal noise.
std::vector<Size> sizes_with(double noise, uint64_t repeats) {
  std::vector<Sample> samples;
  for (const int64_t ranks : {1, 2, 3, 4, 6, 8, 12, 16}) {
    Sample sample = {.ranks = ranks, .ms = {}};
    for (uint64_t repeat = 0; repeat < repeats; ++repeat) {
      const auto stream = static_cast<uint64_t>(ranks);
      const double z = static_cast<double>(normal(3, repeat, 0, stream));
      sample.ms.push_back((20 + 80 / static_cast<double>(ranks)) * std::exp(noise * z));
    }
    samples.push_back(sample);
  }
  return *sizes_of(samples);
}

std::vector<Parameter> parameters_of(const std::vector<Size>& sizes) {
  const Law law = laws(Scaling::kStrong).front();
  const Noise noise = noise_within(sizes);
  const auto best = fit_nonnegative(problem_of(law, sizes, noise));
  return *bootstrap(law, sizes, noise, *best, 1);
}

double width(const Parameter& parameter) {
  return parameter.estimate.interval.high - parameter.estimate.interval.low;
}

TEST(BootstrapFit, NamesParametersAndHoldsTheirEstimates) {
  const auto parameters = parameters_of(sizes_with(0.02, 7));
  ASSERT_EQ(parameters.size(), 2U);
  EXPECT_EQ(parameters[0].name, "T1");
  EXPECT_EQ(parameters[1].name, "f");
  for (const Parameter& parameter : parameters) {
    EXPECT_LE(parameter.estimate.interval.low, parameter.estimate.value);
    EXPECT_GE(parameter.estimate.interval.high, parameter.estimate.value);
  }
}

TEST(BootstrapFit, IsAsWideAsLeastSquaresTheorySays) {
  // Variance of log T1 at fixed f alone would be noise^2 / repeats / sizes; f costs it more. By
  // hand: information about (log T1, f) of 8 sizes, then its inverse.
  double a = 0;
  double b = 0;
  double c = 0;
  for (const double n : {1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0}) {
    const double slope = (1 - 1 / n) / (0.2 + 0.8 / n);
    a += 1;
    b += slope;
    c += slope * slope;
  }
  const double variance = 0.02 * 0.02 / 7 * a / (a * c - b * b);
  const auto parameters = parameters_of(sizes_with(0.02, 7));
  EXPECT_NEAR(width(parameters[1]) / (2 * 1.96 * std::sqrt(variance)), 1.1, 0.25);
}

TEST(BootstrapFit, IsWiderForMoreNoiseAndNarrowerForMoreRepeats) {
  const double usual = width(parameters_of(sizes_with(0.02, 7))[1]);
  EXPECT_GT(width(parameters_of(sizes_with(0.08, 7))[1]), 3 * usual);
  EXPECT_LT(width(parameters_of(sizes_with(0.02, 28))[1]), 0.7 * usual);
}

TEST(BootstrapFit, OfExactTimesIsAPoint) {
  for (const uint64_t repeats : {1U, 7U}) {
    const auto parameters = parameters_of(sizes_with(0.0, repeats));
    EXPECT_NEAR(parameters[1].estimate.value, 0.2, 1e-6);
    EXPECT_LT(width(parameters[1]), 1e-6);
  }
}

TEST(BootstrapFit, SaysWhenTimesDoNotDetermineTheParameters) {
  const Law law = laws(Scaling::kStrong).front();
  const auto sizes = *sizes_of({{4, {10, 11, 12, 13, 14, 15, 16}}});
  const auto parameters = bootstrap(law, sizes, noise_within(sizes), {1, 1}, 1);
  ASSERT_FALSE(parameters);
  EXPECT_NE(parameters.error().text.find("not identifiable"), std::string::npos);
}

}  // namespace
}  // namespace brigade::scaling
