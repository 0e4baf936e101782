// SPDX-License-Identifier: Apache-2.0
#include "trainer/optim/learning_rate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "parallel/base/check.h"
#include "parallel/base/text.h"

namespace brigade::optim {
namespace {

template <class T>
tl::unexpected<Error> out_of_range(std::string_view key, std::string_view range, T found) {
  return fail(ErrorCode::kUsage, concat(key, ": expected ", range, "; found ", found));
}

Result<void> check_settings(const LearningRateSettings& settings, int64_t training_steps) {
  if (!(settings.peak >= 0.0 && std::isfinite(settings.peak))) {
    return out_of_range("optimizer.lr", "a finite number of at least 0", settings.peak);
  }
  if (training_steps < 1) {
    return out_of_range("training.steps", "at least 1", training_steps);
  }
  if (settings.warmup_steps < 0) {
    return out_of_range("lr_scheduler.warmup_steps", "at least 0", settings.warmup_steps);
  }
  if (settings.total_steps.value_or(1) < 1) {
    return out_of_range("lr_scheduler.total_steps", "at least 1", *settings.total_steps);
  }
  const double ratio = settings.decay_ratio.value_or(0.0);
  if (!(ratio >= 0.0 && ratio <= 1.0)) {
    return out_of_range("lr_scheduler.decay_ratio", "a fraction in [0, 1]", ratio);
  }
  if (!(settings.min_lr_factor >= 0.0 && settings.min_lr_factor <= 1.0)) {
    return out_of_range(
        "lr_scheduler.min_lr_factor", "a fraction in [0, 1]", settings.min_lr_factor);
  }
  return {};
}

}  // namespace

Result<DecayType> parse_decay_type(std::string_view name) {
  static const std::array<std::string, 3> kNames = {"linear", "sqrt", "cosine"};
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found != kNames.end()) {
    return static_cast<DecayType>(found - kNames.begin());
  }
  const auto nearest = nearest_name(name, kNames);
  return fail(ErrorCode::kUsage,
              concat("lr_scheduler.decay_type: expected one of ",
                     join(kNames),
                     nearest ? concat(" (did you mean ", *nearest, "?)") : std::string(),
                     "; found \"",
                     name,
                     "\""));
}

Result<LearningRateSchedule> LearningRateSchedule::create(const LearningRateSettings& settings,
                                                          int64_t training_steps) {
  if (const auto valid = check_settings(settings, training_steps); !valid) {
    return fail(valid.error());
  }
  LearningRateSchedule schedule;
  schedule.peak_ = settings.peak;
  schedule.floor_ = settings.min_lr_factor;
  schedule.type_ = settings.decay_type;
  schedule.total_ = settings.total_steps.value_or(training_steps);
  schedule.warmup_ = std::min(settings.warmup_steps, schedule.total_);
  if (schedule.warmup_ < settings.warmup_steps) {
    schedule.warnings_.push_back(concat("lr_scheduler.warmup_steps ",
                                        settings.warmup_steps,
                                        " is cut to all ",
                                        schedule.total_,
                                        " steps"));
  }
  const int64_t after_warmup = schedule.total_ - schedule.warmup_;
  schedule.decay_ = after_warmup;
  if (settings.decay_ratio) {
    // nearbyint rounds halves to even, as Python's round() does.
    const auto asked = static_cast<int64_t>(
        std::nearbyint(static_cast<double>(schedule.total_) * *settings.decay_ratio));
    schedule.decay_ = std::min(asked, after_warmup);
    if (schedule.decay_ < asked) {
      schedule.warnings_.push_back(concat("lr_scheduler.decay_ratio asks for ",
                                          asked,
                                          " steps of decay; ",
                                          after_warmup,
                                          " are left after the warm-up"));
    }
  }
  if (training_steps > schedule.total_) {
    schedule.warnings_.push_back(concat("lr_scheduler.total_steps ",
                                        schedule.total_,
                                        " ends before training.steps ",
                                        training_steps,
                                        ": the steps behind it have lr ",
                                        schedule.at(training_steps)));
  }
  return schedule;
}

double LearningRateSchedule::at(int64_t step) const {
  BRIGADE_CHECK(step >= 1, step);
  return peak_ * factor(step);
}

double LearningRateSchedule::factor(int64_t step) const {
  if (step <= warmup_) {
    return static_cast<double>(step) / static_cast<double>(warmup_);
  }
  const int64_t decayed = step - (total_ + 1 - decay_);
  if (decay_ == 0 || decayed <= 0) {
    return 1.0;
  }
  const double progress = std::min(1.0, static_cast<double>(decayed) / static_cast<double>(decay_));
  double left = 1.0 - progress;
  if (type_ == DecayType::kSqrt) {
    left = 1.0 - std::sqrt(progress);
  } else if (type_ == DecayType::kCosine) {
    left = 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
  }
  return floor_ + (1.0 - floor_) * left;
}

}  // namespace brigade::optim
