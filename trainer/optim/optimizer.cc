// SPDX-License-Identifier: Apache-2.0
#include "trainer/optim/optimizer.h"

#include <algorithm>
#include <utility>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/kernels/adamw.h"

namespace brigade::optim {
namespace {

void update_adamw(const OptimizerSettings& settings,
                  int64_t step,
                  double learning_rate,
                  double clip_factor,
                  const ShardView& shard) {
  BRIGADE_CHECK(shard.first_moment.size() == shard.weight.size() &&
                    shard.second_moment.size() == shard.weight.size(),
                shard.weight.size(),
                shard.first_moment.size(),
                shard.second_moment.size());
  const kernels::AdamWStep factors =
      kernels::adamw_step({.learning_rate = learning_rate,
                           .beta1 = settings.beta1,
                           .beta2 = settings.beta2,
                           .eps = settings.eps,
                           .weight_decay = shard.decayed ? settings.weight_decay : 0.0},
                          step,
                          clip_factor);
  kernels::adamw(factors,
                 shard.gradient.data(),
                 shard.weight.data(),
                 shard.first_moment.data(),
                 shard.second_moment.data(),
                 0,
                 std::ssize(shard.weight));
}

}  // namespace

std::string_view to_string(OptimizerKind kind) {
  return kind == OptimizerKind::kAdamW ? "AdamW" : "SGD";
}

Result<OptimizerKind> parse_optimizer_kind(std::string_view name) {
  for (const OptimizerKind kind : {OptimizerKind::kAdamW, OptimizerKind::kSgd}) {
    if (name == to_string(kind)) {
      return kind;
    }
  }
  return fail(ErrorCode::kUsage,
              concat("optimizer.name: expected AdamW or SGD; found \"", name, "\""));
}

void update(const OptimizerSettings& settings,
            int64_t step,
            double learning_rate,
            double clip_factor,
            std::span<const ShardView> shards) {
  for (const ShardView& shard : shards) {
    BRIGADE_CHECK(
        shard.gradient.size() == shard.weight.size(), shard.weight.size(), shard.gradient.size());
    if (settings.kind == OptimizerKind::kAdamW) {
      update_adamw(settings, step, learning_rate, clip_factor, shard);
    } else {
      kernels::sgd(static_cast<float>(learning_rate),
                   shard.decayed ? static_cast<float>(settings.weight_decay) : 0.0F,
                   static_cast<float>(clip_factor),
                   shard.gradient.data(),
                   shard.weight.data(),
                   0,
                   std::ssize(shard.weight));
    }
  }
}

void Optimizer::add(std::string parameter, int64_t elements, bool decayed) {
  BRIGADE_CHECK(elements >= 0, parameter, elements);
  BRIGADE_CHECK(std::none_of(shards_.begin(),
                             shards_.end(),
                             [&](const Shard& shard) { return shard.parameter == parameter; }),
                parameter);
  const auto moments =
      settings_.kind == OptimizerKind::kAdamW ? static_cast<size_t>(elements) : size_t{0};
  shards_.push_back({std::move(parameter),
                     elements,
                     decayed,
                     std::vector<float>(moments),
                     std::vector<float>(moments)});
}

void Optimizer::apply(int64_t step,
                      double learning_rate,
                      double clip_factor,
                      std::span<const Target> targets) {
  BRIGADE_CHECK(targets.size() == shards_.size(), targets.size(), shards_.size());
  std::vector<ShardView> views;
  views.reserve(shards_.size());
  for (size_t i = 0; i < shards_.size(); ++i) {
    Shard& shard = shards_[i];
    BRIGADE_CHECK(std::ssize(targets[i].weight) == shard.elements,
                  shard.parameter,
                  targets[i].weight.size(),
                  shard.elements);
    views.push_back({targets[i].weight,
                     targets[i].gradient,
                     shard.first_moment,
                     shard.second_moment,
                     shard.decayed});
  }
  update(settings_, step, learning_rate, clip_factor, views);
}

std::vector<Optimizer::State> Optimizer::state() {
  std::vector<State> all;
  if (settings_.kind == OptimizerKind::kAdamW) {
    for (Shard& shard : shards_) {
      all.push_back({shard.parameter, "exp_avg", shard.first_moment});
      all.push_back({shard.parameter, "exp_avg_sq", shard.second_moment});
    }
  }
  return all;
}

}  // namespace brigade::optim
