// SPDX-License-Identifier: Apache-2.0
/// GradientSum: the sum of one parameter's microbatch gradients on this rank. fp32 always.
///
///   kRunning  adds into one buffer, in the order of the backwards
///   kTree     adds along the fixed binary tree over the microbatch index
///             (parallel/base/binary_tree.h), in whatever order the schedule's backwards come: two
///             neighbouring subtrees join as soon as both are complete
///
/// With kTree, schedules, and m microbatches on one rank or m/2 on each of two, give the same bits.
/// Memory: from first to last or last to first, at most log2 m + 1 partial sums live.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include <ATen/core/Tensor.h>

namespace brigade::zero {

class GradientSum {
 public:
  enum class Order : uint8_t { kRunning, kTree };

  explicit GradientSum(Order order) : order_(order) {}

  /// Takes the gradient of microbatch `index` of `count`, each once; may keep and overwrite the
  /// tensor. A microbatch that is never added counts as zero.
  void add(at::Tensor gradient, int64_t index, int64_t count);

  /// The sum so far, contiguous; undefined if nothing was added. Ends the accumulation: the next
  /// add() starts anew.
  at::Tensor finish();

  /// Partial sums held now.
  int64_t live_tensors() const { return static_cast<int64_t>(partial_.size()); }

 private:
  /// Microbatches [first, second): a node of the tree.
  using Range = std::pair<int64_t, int64_t>;

  void join_complete(Range node, int64_t count);
  at::Tensor join_rest(Range node);

  Order order_;
  int64_t count_ = 0;
  std::map<Range, at::Tensor> partial_;  // disjoint nodes
};

}  // namespace brigade::zero
