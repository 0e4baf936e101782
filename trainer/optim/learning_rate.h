// SPDX-License-Identifier: Apache-2.0
/// LearningRateSchedule: linear warm-up, a stable stretch, a decay; as torchtitan's [lr_scheduler].
///
///   auto schedule = LearningRateSchedule::create({.peak = 3e-4, .warmup_steps = 2}, 10);
///   schedule->at(1);   // 1.5e-4
///
/// A pure function of the step, so a resumed run has nothing to restore. With W warm-up steps, D
/// decay steps and T in all, step s (from 1) has the factor s / W up to W, then 1, then over the
/// last D steps, with p = (s - (T + 1 - D)) / D:
///
///   linear 1 - p,  sqrt 1 - sqrt(p),  cosine (1 + cos(pi p)) / 2,  scaled into [min_lr_factor, 1].
///
/// Step T + 1, which is never run, would be the one at the floor: so the last step still learns.
/// D is round(decay_ratio * T), or all that follows the warm-up when decay_ratio is empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"

namespace brigade::optim {

enum class DecayType : uint8_t { kLinear, kSqrt, kCosine };

/// Errors: kUsage naming the nearest of linear, sqrt, cosine.
Result<DecayType> parse_decay_type(std::string_view name);

struct LearningRateSettings {
  double peak = 8e-4;
  int64_t warmup_steps = 200;
  std::optional<int64_t> total_steps = std::nullopt;  ///< empty: the steps of the run
  std::optional<double> decay_ratio =
      std::nullopt;  ///< of all steps; empty: decay right after the warm-up
  DecayType decay_type = DecayType::kLinear;
  double min_lr_factor = 0.0;  ///< floor of the decay, as a fraction of the peak
};

class LearningRateSchedule {
 public:
  /// Errors: kUsage naming the key of a value out of range.
  static Result<LearningRateSchedule> create(const LearningRateSettings& settings,
                                             int64_t training_steps);

  /// The rate of step `step`, from 1. Beyond the total it stays at what step total + 1 has.
  double at(int64_t step) const;

  int64_t warmup_steps() const { return warmup_; }
  int64_t decay_steps() const { return decay_; }
  int64_t total_steps() const { return total_; }

  /// What of the settings could not be had as given; to be printed once.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  LearningRateSchedule() = default;
  double factor(int64_t step) const;

  double peak_ = 0.0;
  double floor_ = 0.0;
  DecayType type_ = DecayType::kLinear;
  int64_t warmup_ = 0;
  int64_t decay_ = 0;
  int64_t total_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace brigade::optim
