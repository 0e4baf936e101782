// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/update.h"

#include <span>
#include <vector>

#include <ATen/ATen.h>

#include "parallel/zero/clip.h"

namespace brigade::loop {
namespace {

optim::OptimizerSettings settings_of(const config::Optimizer& optimizer) {
  return {
      .kind = optimizer.name == "SGD" ? optim::OptimizerKind::kSgd : optim::OptimizerKind::kAdamW,
      .beta1 = optimizer.beta1,
      .beta2 = optimizer.beta2,
      .eps = optimizer.eps,
      .weight_decay = optimizer.weight_decay};
}

size_t elements(const at::Tensor& tensor) {
  return static_cast<size_t>(tensor.numel());
}

}  // namespace

Result<optim::LearningRateSchedule> learning_rate_of(const config::RunConfig& config) {
  const Result<optim::DecayType> decay = optim::parse_decay_type(config.lr_scheduler.decay_type);
  if (!decay) {
    return fail(decay.error());
  }
  return optim::LearningRateSchedule::create({.peak = config.optimizer.lr,
                                              .warmup_steps = config.lr_scheduler.warmup_steps,
                                              .total_steps = config.lr_scheduler.total_steps,
                                              .decay_ratio = config.lr_scheduler.decay_ratio,
                                              .decay_type = *decay,
                                              .min_lr_factor = config.lr_scheduler.min_lr_factor},
                                             config.training.steps);
}

ShardOptimizer::ShardOptimizer(const config::RunConfig& config, zero::ParameterSet& parameters)
    : parameters_(parameters),
      optimizer_(settings_of(config.optimizer)),
      max_norm_(config.training.max_norm) {
  for (const zero::Shard& shard : parameters_.shards()) {
    optimizer_.add(shard.facts->name, shard.weight.numel(), shard.facts->decayed);
  }
}

void ShardOptimizer::update(double learning_rate, double gradient_norm) {
  const std::vector<zero::Shard> shards = parameters_.shards();
  std::vector<optim::Optimizer::Target> targets;
  for (const zero::Shard& shard : shards) {
    targets.push_back(
        {std::span<float>(shard.weight.data_ptr<float>(), elements(shard.weight)),
         std::span<const float>(shard.gradient.const_data_ptr<float>(), elements(shard.gradient))});
  }
  updates_ += 1;
  optimizer_.apply(updates_, learning_rate, zero::clip_factor(gradient_norm, max_norm_), targets);
}

}  // namespace brigade::loop
