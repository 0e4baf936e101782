// SPDX-License-Identifier: Apache-2.0
/// The optimizer over the shards of a ParameterSet, with clipping.
#pragma once

#include <cstdint>

#include "parallel/base/result.h"
#include "parallel/zero/parameter_set.h"
#include "trainer/config/run_config.h"
#include "trainer/optim/learning_rate.h"
#include "trainer/optim/optimizer.h"

namespace brigade::loop {

Result<optim::LearningRateSchedule> learning_rate_of(const config::RunConfig& config);

class ShardOptimizer {
 public:
  /// Borrows `parameters`.
  ShardOptimizer(const config::RunConfig& config, zero::ParameterSet& parameters);

  /// Updates this rank's shards from their reduced gradients. Counts its own updates: a skipped
  /// step is none.
  void update(double learning_rate, double gradient_norm);

  optim::Optimizer& states() { return optimizer_; }
  /// Updates so far: AdamW's count of steps.
  int64_t updates() const { return updates_; }
  void set_updates(int64_t updates) { updates_ = updates; }

 private:
  zero::ParameterSet& parameters_;
  optim::Optimizer optimizer_;
  double max_norm_;
  int64_t updates_ = 0;
};

}  // namespace brigade::loop
