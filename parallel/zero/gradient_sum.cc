// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/gradient_sum.h"

#include <utility>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace brigade::zero {
namespace {

/// fp32, contiguous and nobody else's. Autograd may hand out a view of memory that another
/// gradient shares.
at::Tensor own(at::Tensor gradient) {
  const bool is_ours = gradient.scalar_type() == at::kFloat && gradient.is_contiguous() &&
                       gradient.storage().use_count() == 1;
  if (is_ours) {
    return gradient;
  }
  return gradient.to(
      at::kFloat, /*non_blocking=*/false, /*copy=*/true, at::MemoryFormat::Contiguous);
}

}  // namespace

void GradientSum::add(at::Tensor gradient) {
  const c10::NoGradGuard no_history;
  if (order_ == Order::kRunning && !partial_.empty()) {
    partial_.back().sum.add_(gradient);
    ++partial_.back().microbatches;
    return;
  }
  partial_.push_back({1, own(std::move(gradient))});
  if (order_ == Order::kTree) {
    // As a binary counter carries: neighbours of equal width are one subtree.
    while (partial_.size() > 1 &&
           partial_[partial_.size() - 2].microbatches == partial_.back().microbatches) {
      join_last();
    }
  }
}

at::Tensor GradientSum::finish() {
  const c10::NoGradGuard no_history;
  // The rest is narrower from left to right; the tree joins its right end first.
  while (partial_.size() > 1) {
    join_last();
  }
  at::Tensor sum = partial_.empty() ? at::Tensor() : std::move(partial_.back().sum);
  partial_.clear();
  return sum;
}

void GradientSum::join_last() {
  const Partial right = std::move(partial_.back());
  partial_.pop_back();
  partial_.back().sum.add_(right.sum);
  partial_.back().microbatches += right.microbatches;
}

}  // namespace brigade::zero
