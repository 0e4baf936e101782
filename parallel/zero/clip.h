// SPDX-License-Identifier: Apache-2.0
/// clip_factor: the one rule by which a global norm clips gradients, on every mesh and for every
/// model.
///
///   factor = clip_factor(norm, max_norm);   // then update by factor * gradient
///
/// The norm is that of all parameters over all ranks, each element once
/// (ParameterSet::add_squares), before clipping; that is the norm that is reported.
#pragma once

namespace brigade::zero {

/// max_norm / (norm + 1e-6) where the norm is larger, as torch's clip_grad_norm_; 1 otherwise, and
/// for max_norm = 0.
inline double clip_factor(double gradient_norm, double max_norm) {
  constexpr double kEpsilon = 1e-6;
  return max_norm > 0.0 && gradient_norm > max_norm ? max_norm / (gradient_norm + kEpsilon) : 1.0;
}

}  // namespace brigade::zero
