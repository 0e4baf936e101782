// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/fit.h"

#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "parallel/base/philox.h"
#include "parallel/base/text.h"

namespace brigade::scaling {
namespace {

using Truth = std::function<double(double ranks)>;

std::vector<int64_t> ten_sizes() {
  return {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
}

// Log-normal noise of 2 %, independent for each size and repeat.
std::vector<Sample> times(const Truth& truth,
                          uint64_t seed,
                          const std::vector<int64_t>& sizes = ten_sizes(),
                          uint64_t repeats = 7,
                          double noise = 0.02) {
  std::vector<Sample> samples;
  for (const int64_t ranks : sizes) {
    Sample sample = {.ranks = ranks, .ms = {}};
    for (uint64_t repeat = 0; repeat < repeats; ++repeat) {
      const double z = static_cast<double>(normal(seed, repeat, static_cast<uint32_t>(ranks), 77));
      sample.ms.push_back(truth(static_cast<double>(ranks)) * std::exp(noise * z));
    }
    samples.push_back(sample);
  }
  return samples;
}

Fit fit_of(const std::string& name,
           const std::vector<Sample>& samples,
           Scaling scaling,
           uint64_t seed = 5) {
  for (const Law& law : laws(scaling)) {
    if (law.name == name) {
      return fit_law(law, samples, seed);
    }
  }
  return {};
}

constexpr const char* kCosts = "A + B/N + C log N + D N";

double amdahl(double n) {
  return 100 * (0.95 / n + 0.05);
}
double gustafson(double n) {
  return 50 * n / (n - 0.1 * (n - 1));
}
double usl(double n) {
  return 100 * (1 + 0.03 * (n - 1) + 0.0005 * n * (n - 1)) / n;
}
double costs(double n) {
  return 4 + 100 / n + 1.0 * std::log2(n) + 0.15 * n;
}

// In how many of 100 trials each parameter's interval holds the true value.
void expect_covered(const std::string& law,
                    Scaling scaling,
                    const Truth& truth,
                    const std::vector<double>& values) {
  std::vector<int> held(values.size(), 0);
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Fit fit = fit_of(law, times(truth, seed), scaling, seed);
    ASSERT_EQ(fit.why_not, "");
    for (size_t index = 0; index < values.size(); ++index) {
      const Interval interval = fit.parameters.at(index).estimate.interval;
      held[index] += interval.low <= values[index] && values[index] <= interval.high ? 1 : 0;
    }
  }
  for (size_t index = 0; index < values.size(); ++index) {
    EXPECT_GE(held[index], 90) << law << ", parameter " << index;
  }
}

TEST(FitLaws, HoldsAmdahlsTrueParametersInNineOfTenTrials) {
  expect_covered("Amdahl", Scaling::kStrong, amdahl, {100, 0.05});
}

TEST(FitLaws, HoldsGustafsonsTrueParametersInNineOfTenTrials) {
  expect_covered("Gustafson", Scaling::kWeak, gustafson, {50, 0.1});
}

TEST(FitLaws, HoldsTheTrueParametersOfUslInNineOfTenTrials) {
  expect_covered("USL", Scaling::kStrong, usl, {100, 0.03, 0.0005});
}

TEST(FitLaws, HoldsTheTrueParametersOfUslInNineOfTenTrialsOfWeakScaling) {
  expect_covered("USL", Scaling::kWeak, [](double n) { return n * usl(n); }, {100, 0.03, 0.0005});
}

TEST(FitLaws, HoldsTrueCostsInNineOfTenTrials) {
  expect_covered(kCosts, Scaling::kStrong, costs, {4, 100, 1.0, 0.15});
}

TEST(FitLaws, HoldsTrueZerosInNineOfTenTrials) {
  expect_covered(kCosts, Scaling::kStrong, amdahl, {5, 95, 0, 0});
  expect_covered("USL", Scaling::kStrong, amdahl, {100, 0.05, 0});
}

TEST(FitLaws, IsTheSameForTheSameSeed) {
  const auto samples = times(usl, 1);
  const auto once = fit_laws(samples, Scaling::kStrong, 9);
  const auto again = fit_laws(samples, Scaling::kStrong, 9);
  for (size_t law = 0; law < once.size(); ++law) {
    EXPECT_EQ(once[law].aicc, again[law].aicc);
    for (size_t index = 0; index < once[law].parameters.size(); ++index) {
      const Interval interval = once[law].parameters[index].estimate.interval;
      EXPECT_EQ(interval.low, again[law].parameters[index].estimate.interval.low);
      EXPECT_EQ(interval.high, again[law].parameters[index].estimate.interval.high);
    }
  }
}

TEST(FitLaws, PrefersTheLawThatMadeTheTimes) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const auto samples = times(usl, seed);
    const Fit found = fit_of("USL", samples, Scaling::kStrong);
    const Fit other = fit_of("Amdahl", samples, Scaling::kStrong);
    EXPECT_LT(found.aicc + 10, other.aicc);
    EXPECT_LT(found.held_out_error, other.held_out_error);
    EXPECT_LT(found.held_out_error, 0.03);
  }
}

TEST(FitLaws, GivesTheCurveThroughTheTimesToFourTimesTheLargestSize) {
  for (const Fit& fit : fit_laws(times(amdahl, 2), Scaling::kStrong, 0)) {
    if (!fit.why_not.empty()) {
      continue;
    }
    EXPECT_EQ(fit.curve.front().first, 1);
    EXPECT_NEAR(fit.curve.front().second, 100, 3);
    EXPECT_NEAR(fit.curve.back().first, 128, 1e-9);
    for (const auto& [ranks, ms] : fit.curve) {
      EXPECT_LE(ranks, 128);
      EXPECT_GT(ms, 0);
    }
  }
}

TEST(FitLaws, SaysHowManySizesItNeeds) {
  for (const Fit& fit : fit_laws(times(amdahl, 0, {1, 2}), Scaling::kStrong, 0)) {
    if (fit.law != "Gustafson") {
      EXPECT_EQ(fit.why_not, "not identifiable: 2 sizes, needs 5 or more");
    }
    EXPECT_TRUE(fit.parameters.empty());
    EXPECT_TRUE(fit.curve.empty());
  }
  EXPECT_EQ(fit_of("USL", times(usl, 0, {1, 2, 4, 8}), Scaling::kStrong).why_not,
            "not identifiable: 4 sizes, needs 5 or more");
  EXPECT_EQ(fit_of("USL", {}, Scaling::kStrong).why_not,
            "not identifiable: 0 sizes, needs 5 or more");
  // The same size five times is one size.
  EXPECT_EQ(fit_of("USL", times(usl, 0, {2, 2, 2, 2, 2}), Scaling::kStrong).why_not,
            "not identifiable: 1 size, needs 5 or more");
}

TEST(FitLaws, FitsFiveSizes) {
  for (const Fit& fit : fit_laws(times(costs, 3, {1, 2, 4, 8, 16}), Scaling::kStrong, 0)) {
    EXPECT_EQ(fit.why_not.empty(), fit.law != "Gustafson") << fit.why_not;
  }
}

TEST(FitLaws, SaysWhichLawsDoNotApply) {
  EXPECT_NE(fit_of("Gustafson", times(amdahl, 0), Scaling::kStrong).why_not, "");
  EXPECT_NE(fit_of("Amdahl", times(amdahl, 0), Scaling::kWeak).why_not, "");
  EXPECT_NE(fit_of("USL", times(amdahl, 0), Scaling::kMemoryConstrained).why_not, "");
}

TEST(FitLaws, FindsThatConstantTimesAreAllSerial) {
  const Truth constant = [](double) { return 40.0; };
  for (const double noise : {0.0, 0.02}) {
    const auto samples = times(constant, 1, ten_sizes(), 7, noise);
    const Fit fit = fit_of("Amdahl", samples, Scaling::kStrong);
    ASSERT_EQ(fit.why_not, "");
    EXPECT_NEAR(fit.parameters[1].estimate.value, 1.0, 0.03);
    EXPECT_LE(fit.parameters[1].estimate.interval.high, 1.0);
    EXPECT_NEAR(fit.parameters[1].estimate.interval.high, 1.0, 1e-6);
    EXPECT_TRUE(std::isfinite(fit.aicc));
  }
}

TEST(FitLaws, KeepsFractionsAtZeroWhenTimesAreBetterThanLinear) {
  const auto samples = times([](double n) { return 100 / std::pow(n, 1.15); }, 1);
  for (const Fit& fit : fit_laws(samples, Scaling::kStrong, 0)) {
    if (fit.law == "Amdahl" || fit.law == "USL") {
      ASSERT_EQ(fit.why_not, "");
      EXPECT_EQ(fit.parameters[1].estimate.value, 0.0);
      EXPECT_EQ(fit.parameters[1].estimate.interval.low, 0.0);
      EXPECT_GT(fit.parameters[1].estimate.interval.high, 0.0);
      EXPECT_GT(fit.held_out_error, 0.05);
    }
  }
}

TEST(FitLaws, SaysThatNothingIsKnownOfOneRankWhenTimesOnlyGrow) {
  const auto samples = times([](double n) { return n * n; }, 1, {3, 6, 9, 12, 18, 24});
  EXPECT_EQ(fit_of("USL", samples, Scaling::kStrong).why_not,
            "not identifiable: the times do not determine its parameters");
}

TEST(FitLaws, WidensIntervalsWhenTheLawIsNotTheTruth) {
  const auto width = [](const Truth& truth) {
    const Fit fit = fit_of("Amdahl", times(truth, 4), Scaling::kStrong);
    const Interval interval = fit.parameters.at(0).estimate.interval;
    return interval.high - interval.low;
  };
  EXPECT_GT(width([](double n) { return amdahl(n) * (1 + 0.1 * std::sin(5 * n)); }),
            3 * width(amdahl));
}

TEST(FitLaws, MakesDoWithOneRepeat) {
  const auto samples = times(amdahl, 6, ten_sizes(), 1);
  for (const Fit& fit : fit_laws(samples, Scaling::kStrong, 0)) {
    EXPECT_EQ(fit.why_not.empty(), fit.law != "Gustafson") << fit.why_not;
  }
  const Fit fit = fit_of("Amdahl", samples, Scaling::kStrong);
  EXPECT_LT(fit.parameters[1].estimate.interval.low, 0.05);
  EXPECT_GT(fit.parameters[1].estimate.interval.high, 0.05);
}

TEST(FitLaws, HoldsTrueParametersWithOneRepeatToo) {
  int held = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Fit fit = fit_of("Amdahl", times(amdahl, seed, ten_sizes(), 1), Scaling::kStrong);
    const Interval interval = fit.parameters.at(1).estimate.interval;
    held += interval.low <= 0.05 && 0.05 <= interval.high ? 1 : 0;
  }
  EXPECT_GE(held, 88);
}

TEST(FitLaws, NeedsMoreTimesThanParametersAndNoise) {
  const auto samples = times(costs, 0, {1, 2, 3, 4, 6}, 1);
  EXPECT_EQ(fit_of(kCosts, samples, Scaling::kStrong).why_not,
            "not identifiable: 5 step times, needs 7 or more for its 4 parameters and their noise");
  EXPECT_EQ(fit_of("Amdahl", samples, Scaling::kStrong).why_not, "");
}

TEST(FitLaws, RefusesTimesThatAreNotPositiveNumbers) {
  for (const double bad : {0.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    auto samples = times(amdahl, 0);
    samples[3].ms[2] = bad;
    for (const Fit& fit : fit_laws(samples, Scaling::kStrong, 0)) {
      EXPECT_NE(fit.why_not, "");
      EXPECT_TRUE(fit.parameters.empty());
    }
    EXPECT_EQ(fit_of("USL", samples, Scaling::kStrong).why_not,
              concat("not fitted: a step time must be a positive number of milliseconds; found, of "
                     "4 ranks, ",
                     bad));
  }
}

TEST(FitLaws, CountsFromOneRankEvenWhenTheSmallestSizeIsLarger) {
  const Fit fit = fit_of("Amdahl", times(amdahl, 8, {2, 4, 8, 16, 32}), Scaling::kStrong);
  ASSERT_EQ(fit.why_not, "");
  EXPECT_NEAR(fit.parameters[0].estimate.value, 100, 5);
  EXPECT_NEAR(fit.parameters[1].estimate.value, 0.05, 0.005);
  EXPECT_EQ(fit.curve.front().first, 2);
}

}  // namespace
}  // namespace brigade::scaling
