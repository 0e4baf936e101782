// SPDX-License-Identifier: Apache-2.0
/// Optimizer updates over a range of elements, one arithmetic for every element.
///
///   const AdamWStep step = adamw_step({.learning_rate = 3e-4, .weight_decay = 0.1}, 1, clip);
///   adamw(step, gradient, weight, first_moment, second_moment, 0, n);
///
/// Semantics of torch.optim.AdamW (decoupled decay) and torch.optim.SGD (decay added to the
/// gradient). libtorch's fused AdamW rounds differently in its vector body and in its tail; here an
/// element's bits depend on its own values alone, so any sharding gives the same weights.
/// Reference: Loshchilov and Hutter, Decoupled Weight Decay Regularization, ICLR 2019, algorithm 2.
/// Thread safety: calls whose ranges are disjoint, safe.
#pragma once

#include <cstdint>

namespace brigade::kernels {

struct AdamWSettings {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01;
};

/// What one step multiplies with, worked out in double and rounded once.
struct AdamWStep {
  float gradient_factor;  // clipping
  float decay;            // 1 - learning_rate * weight_decay
  float first_rate;       // 1 - beta1
  float beta2;
  float second_rate;           // 1 - beta2
  float step_size;             // learning_rate / (1 - beta1^step)
  float root_bias_correction;  // sqrt(1 - beta2^step)
  float eps;
};

/// `step` counts from 1. `gradient_factor` multiplies every gradient (1 = no clipping).
AdamWStep adamw_step(const AdamWSettings& settings, int64_t step, double gradient_factor = 1.0);

/// For elements [begin, end): g = factor * gradient; weight *= decay; m += (1 - beta1)(g - m);
/// v = beta2 v + (1 - beta2) g g; weight -= step_size * m / (sqrt(v) / root + eps).
void adamw(const AdamWStep& step,
           const float* gradient,
           float* weight,
           float* first_moment,
           float* second_moment,
           int64_t begin,
           int64_t end);

/// For elements [begin, end): weight -= learning_rate * (factor * gradient + weight_decay *
/// weight).
void sgd(float learning_rate,
         float weight_decay,
         float gradient_factor,
         const float* gradient,
         float* weight,
         int64_t begin,
         int64_t end);

}  // namespace brigade::kernels
