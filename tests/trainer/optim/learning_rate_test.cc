// SPDX-License-Identifier: Apache-2.0
#include "trainer/optim/learning_rate.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"

namespace brigade::optim {
namespace {

LearningRateSchedule make(const LearningRateSettings& settings, int64_t steps) {
  return value_or_throw(LearningRateSchedule::create(settings, steps));
}

std::vector<double> rates(const LearningRateSchedule& schedule, int64_t steps) {
  std::vector<double> all;
  for (int64_t step = 1; step <= steps; ++step) {
    all.push_back(schedule.at(step));
  }
  return all;
}

void expect_rates(const LearningRateSchedule& schedule, const std::vector<double>& expected) {
  EXPECT_THAT(rates(schedule, std::ssize(expected)),
              testing::Pointwise(testing::DoubleNear(1e-12), expected));
}

/// 10 steps, 2 of warm-up, 8 of decay: the top is step 3, then eighths.
TEST(LearningRate, DecaysLinearlyRightAfterTheWarmUp) {
  expect_rates(make({.peak = 8.0, .warmup_steps = 2}, 10), {4, 8, 8, 7, 6, 5, 4, 3, 2, 1});
}

TEST(LearningRate, StaysBetweenWarmUpAndDecay) {
  expect_rates(make({.peak = 4.0, .warmup_steps = 2, .decay_ratio = 0.4}, 10),
               {2, 4, 4, 4, 4, 4, 4, 3, 2, 1});
}

/// Four steps of decay, p = 1/4, 1/2, 3/4 in the last three.
TEST(LearningRate, DecaysBySquareRootAndCosine) {
  expect_rates(
      make({.peak = 1.0, .warmup_steps = 0, .decay_ratio = 0.5, .decay_type = DecayType::kSqrt}, 8),
      {1, 1, 1, 1, 1, 0.5, 0.2928932188134524, 0.1339745962155614});
  expect_rates(
      make({.peak = 1.0, .warmup_steps = 0, .decay_ratio = 0.5, .decay_type = DecayType::kCosine},
           8),
      {1, 1, 1, 1, 1, 0.8535533905932737, 0.5, 0.1464466094067262});
}

TEST(LearningRate, ScalesTheDecayIntoTheFloor) {
  expect_rates(make({.peak = 1.0, .warmup_steps = 1, .min_lr_factor = 0.2}, 5),
               {1, 1, 0.8, 0.6, 0.4});
}

TEST(LearningRate, NeverDecaysWithARatioOfZero) {
  expect_rates(make({.peak = 3.0, .warmup_steps = 1, .decay_ratio = 0.0}, 4), {3, 3, 3, 3});
}

TEST(LearningRate, KeepsTheCurveOfTheTotalInShortRuns) {
  const LearningRateSettings settings{.peak = 8.0, .warmup_steps = 2, .total_steps = 10};
  const auto schedule = make(settings, 3);
  expect_rates(schedule, {4, 8, 8});
  EXPECT_THAT(schedule.warnings(), testing::IsEmpty());
}

/// Python's round(2.5) is 2 and round(3.5) is 4.
TEST(LearningRate, RoundsDecayStepsHalfToEven) {
  EXPECT_EQ(make({.warmup_steps = 0, .decay_ratio = 0.25}, 10).decay_steps(), 2);
  EXPECT_EQ(make({.warmup_steps = 0, .decay_ratio = 0.25}, 14).decay_steps(), 4);
}

TEST(LearningRate, CutsALongWarmUpAndSaysSo) {
  const auto schedule = make({.peak = 4.0, .warmup_steps = 200}, 4);
  expect_rates(schedule, {1, 2, 3, 4});
  EXPECT_THAT(schedule.warnings(),
              testing::ElementsAre("lr_scheduler.warmup_steps 200 is cut to all 4 steps"));
}

TEST(LearningRate, CutsADecayThatMeetsTheWarmUpAndSaysSo) {
  const auto schedule = make({.peak = 2.0, .warmup_steps = 2, .decay_ratio = 0.8}, 4);
  expect_rates(schedule, {1, 2, 2, 1});
  EXPECT_THAT(schedule.warnings(),
              testing::ElementsAre("lr_scheduler.decay_ratio asks for 3 steps of decay; 2 are left "
                                   "after the warm-up"));
}

TEST(LearningRate, StaysAtTheFloorBehindTheTotalAndSaysSo) {
  const auto schedule =
      make({.peak = 1.0, .warmup_steps = 0, .total_steps = 2, .min_lr_factor = 0.25}, 4);
  expect_rates(schedule, {1, 0.625, 0.25, 0.25});
  EXPECT_THAT(schedule.warnings(),
              testing::ElementsAre("lr_scheduler.total_steps 2 ends before training.steps 4: the "
                                   "steps behind it have lr 0.25"));
}

/// Rising to the peak, then never rising; no step above the peak, none at zero, no jump larger
/// than the slope of its stretch.
TEST(LearningRate, HasNoJumpsAndNoZeros) {
  for (const int64_t warmup : {0, 1, 3, 20}) {
    for (const double ratio : {0.0, 0.3, 1.0}) {
      for (const DecayType type : {DecayType::kLinear, DecayType::kSqrt, DecayType::kCosine}) {
        const LearningRateSettings settings{
            .peak = 1.0, .warmup_steps = warmup, .decay_ratio = ratio, .decay_type = type};
        const auto schedule = make(settings, 20);
        SCOPED_TRACE(concat(warmup, " ", ratio, " ", static_cast<int>(type)));
        EXPECT_GT(schedule.at(20), 0.0);
        for (int64_t step = 2; step <= 20; ++step) {
          const double change = schedule.at(step) - schedule.at(step - 1);
          EXPECT_LE(schedule.at(step), 1.0);
          if (step <= warmup) {
            EXPECT_NEAR(change, 1.0 / static_cast<double>(warmup), 1e-12);
          } else {
            EXPECT_LE(change, 0.0);
          }
        }
        if (warmup > 0) {
          EXPECT_EQ(schedule.at(schedule.warmup_steps()), 1.0);
        }
        const int64_t decay_begins = 21 - schedule.decay_steps();
        if (schedule.decay_steps() > 0 && decay_begins > warmup) {
          EXPECT_EQ(schedule.at(decay_begins), 1.0);
        }
      }
    }
  }
}

std::string refusal(const LearningRateSettings& settings, int64_t steps) {
  const auto schedule = LearningRateSchedule::create(settings, steps);
  return schedule ? "accepted" : schedule.error().text;
}

TEST(LearningRate, RefusesValuesOutOfRange) {
  EXPECT_EQ(refusal({.peak = -1.0}, 10),
            "optimizer.lr: expected a finite number of at least 0; found -1");
  EXPECT_NE(refusal({.peak = std::numeric_limits<double>::quiet_NaN()}, 10), "accepted");
  EXPECT_EQ(refusal({}, 0), "training.steps: expected at least 1; found 0");
  EXPECT_EQ(refusal({.warmup_steps = -1}, 10),
            "lr_scheduler.warmup_steps: expected at least 0; found -1");
  EXPECT_EQ(refusal({.total_steps = 0}, 10),
            "lr_scheduler.total_steps: expected at least 1; found 0");
  EXPECT_EQ(refusal({.decay_ratio = 1.5}, 10),
            "lr_scheduler.decay_ratio: expected a fraction in [0, 1]; found 1.5");
  EXPECT_EQ(refusal({.min_lr_factor = -0.5}, 10),
            "lr_scheduler.min_lr_factor: expected a fraction in [0, 1]; found -0.5");
  EXPECT_THROW(make({}, 10).at(0), CheckFailure);
}

TEST(LearningRate, DecayTypeIsReadFromItsName) {
  EXPECT_EQ(parse_decay_type("linear"), DecayType::kLinear);
  EXPECT_EQ(parse_decay_type("sqrt"), DecayType::kSqrt);
  EXPECT_EQ(parse_decay_type("cosine"), DecayType::kCosine);
  EXPECT_EQ(parse_decay_type("cosin").error().text,
            "lr_scheduler.decay_type: expected one of linear, sqrt, cosine (did you mean cosine?); "
            "found \"cosin\"");
}

}  // namespace
}  // namespace brigade::optim
