// SPDX-License-Identifier: Apache-2.0
/// GradientSum: the sum of one parameter's microbatch gradients on this rank.
///
/// kTree adds along the fixed binary tree over the microbatch index (parallel/base/binary_tree.h),
/// holding at most log2 m + 1 partial sums, so that m microbatches on one rank and m/2 on each of
/// two give the same bits. kRunning adds into one buffer. fp32 always.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace brigade::zero {

class GradientSum {
 public:
  enum class Order : uint8_t { kRunning, kTree };

  explicit GradientSum(Order order) : order_(order) {}

  /// Takes the next microbatch's gradient; may keep and overwrite the tensor.
  void add(at::Tensor gradient);

  /// The sum so far, contiguous; undefined if nothing was added. Ends the accumulation: the next
  /// add() starts anew.
  at::Tensor finish();

  /// Partial sums held now.
  int64_t live_tensors() const { return static_cast<int64_t>(partial_.size()); }

 private:
  struct Partial {
    int64_t microbatches;
    at::Tensor sum;
  };

  /// Adds the last partial sum onto the one before it.
  void join_last();

  Order order_;
  std::vector<Partial> partial_;
};

}  // namespace brigade::zero
