// SPDX-License-Identifier: Apache-2.0
/// A module of one's own with parameters of every kind, and its training with and without Brigade.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <torch/nn.h>
#include <torch/optim.h>

#include "parallel/collective/world.h"
#include "parallel/zero/sharded_module.h"

namespace brigade::zero {

/// Two layers, a scalar, an empty parameter, a frozen one and a buffer.
struct SmallNet : torch::nn::Module {
  /// Values depend on `seed`, so that ranks can be told to begin apart.
  explicit SmallNet(int64_t seed);

  at::Tensor forward(const at::Tensor& x_BI);

  torch::nn::Linear first{7, 5};
  torch::nn::Linear second{5, 3};
  at::Tensor scale, nothing, frozen, offset;
};

inline constexpr int64_t kSmallBatch = 12;

/// Inputs [kSmallBatch, 7] and targets [kSmallBatch, 3] of a step.
struct Samples {
  at::Tensor inputs;
  at::Tensor targets;
};
Samples samples(int64_t step);

/// The sum of squared errors over these samples, divided by the whole batch.
at::Tensor loss_of(SmallNet& net, const at::Tensor& inputs, const at::Tensor& targets);

using Optimizer = std::shared_ptr<torch::optim::Optimizer>;
using MakeOptimizer = std::function<Optimizer(std::vector<at::Tensor> parameters)>;

Optimizer sgd(std::vector<at::Tensor> parameters);
Optimizer adamw(std::vector<at::Tensor> parameters);

/// Whether no memory lies under the tensor.
bool is_freed(const at::Tensor& tensor);

/// What a training left: losses per step, and parameters by their order in the module.
struct Trained {
  std::vector<double> losses;
  std::vector<at::Tensor> parameters;
};

inline constexpr int64_t kSmallSteps = 6;
inline constexpr double kSmallNorm = 0.5;  // gradients are clipped to it; most are longer

/// By libtorch alone.
Trained train_plainly(const MakeOptimizer& make);
/// By a rank of a world; `passes` backward passes per step. Also checks that parameters stay the
/// tensors that they are.
Trained train_sharded(collective::World& world,
                      const MakeOptimizer& make,
                      const ModuleOptions& options,
                      int64_t passes = 1);

}  // namespace brigade::zero
