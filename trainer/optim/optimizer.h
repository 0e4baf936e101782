// SPDX-License-Identifier: Apache-2.0
/// Optimizer: AdamW or SGD over the shards that this rank owns. It sees floats and names, no
/// tensors, no ranks: the placement decides which elements of a parameter it is given.
///
///   Optimizer optimizer({.kind = OptimizerKind::kAdamW});
///   optimizer.add("layers.0.wq", 4096, true);
///   optimizer.apply(step, lr, clip_factor, {{{weight, gradient}}});
///
/// An element's new value depends on its own values alone (parallel/kernels/adamw.h), so any
/// sharding gives the same weights, bit for bit.
///
/// Ownership: the optimizer owns its moments, zero at first; weights and gradients are borrowed
///            during apply().
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"

namespace brigade::optim {

enum class OptimizerKind : uint8_t { kAdamW, kSgd };

/// "AdamW", "SGD".
std::string_view to_string(OptimizerKind kind);
/// Errors: kUsage naming both.
Result<OptimizerKind> parse_optimizer_kind(std::string_view name);

struct OptimizerSettings {
  OptimizerKind kind = OptimizerKind::kAdamW;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
  double weight_decay = 0.1;  ///< of the shards that are decayed
};

/// What one step of one shard reads and writes. All spans have one length; the moments are empty
/// for SGD.
struct ShardView {
  std::span<float> weight;
  std::span<const float> gradient;
  std::span<float> first_moment;
  std::span<float> second_moment;
  bool decayed = true;
};

/// One step (from 1) of every shard. `clip_factor` multiplies every gradient.
void update(const OptimizerSettings& settings,
            int64_t step,
            double learning_rate,
            double clip_factor,
            std::span<const ShardView> shards);

/// Thread safety: distinct objects, safe; a shared object, unsafe.
class Optimizer {
 public:
  /// A shard's borrowed half.
  struct Target {
    std::span<float> weight;
    std::span<const float> gradient;
  };

  /// One buffer of state, as a checkpoint saves and loads it.
  struct State {
    std::string_view parameter;
    std::string_view name;  ///< "exp_avg" or "exp_avg_sq", as torch.optim names them
    std::span<float> values;
  };

  explicit Optimizer(OptimizerSettings settings) : settings_(settings) {}

  /// Takes on a shard of `elements` >= 0 elements of `parameter`; its moments are zero. Names are
  /// unique.
  void add(std::string parameter, int64_t elements, bool decayed);

  /// Updates all shards; `targets` in the order of add(), of the same sizes.
  void apply(int64_t step,
             double learning_rate,
             double clip_factor,
             std::span<const Target> targets);

  /// All state, in the order of add(); empty for SGD. Valid until the next add().
  std::vector<State> state();

  const OptimizerSettings& settings() const { return settings_; }

 private:
  struct Shard {
    std::string parameter;
    int64_t elements;
    bool decayed;
    std::vector<float> first_moment;
    std::vector<float> second_moment;
  };

  OptimizerSettings settings_;
  std::vector<Shard> shards_;
};

}  // namespace brigade::optim
