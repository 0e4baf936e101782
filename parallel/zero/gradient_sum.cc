// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/gradient_sum.h"

#include <utility>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "parallel/base/binary_tree.h"
#include "parallel/base/check.h"

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

/// The node of the tree over [0, count) whose child `node` is; needs node to be one, and not the
/// root.
std::pair<int64_t, int64_t> parent_of(std::pair<int64_t, int64_t> node, int64_t count) {
  std::pair<int64_t, int64_t> parent{0, count};
  while (true) {
    const int64_t middle = parent.first + tree_split(parent.second - parent.first);
    const std::pair<int64_t, int64_t> child =
        node.first < middle ? std::pair{parent.first, middle} : std::pair{middle, parent.second};
    if (child == node) {
      return parent;
    }
    parent = child;
  }
}

}  // namespace

void GradientSum::add(at::Tensor gradient, int64_t index, int64_t count) {
  BRIGADE_CHECK(0 <= index && index < count, index, count);
  const c10::NoGradGuard no_history;
  count_ = count;
  if (order_ == Order::kRunning) {
    if (partial_.empty()) {
      partial_[{0, count}] = own(std::move(gradient));
    } else {
      partial_.begin()->second.add_(gradient);
    }
    return;
  }
  const Range leaf{index, index + 1};
  BRIGADE_CHECK(partial_.emplace(leaf, own(std::move(gradient))).second, index);
  join_complete(leaf, count);
}

void GradientSum::join_complete(Range node, int64_t count) {
  while (node != Range{0, count}) {
    const Range parent = parent_of(node, count);
    const int64_t middle = parent.first + tree_split(parent.second - parent.first);
    const auto left = partial_.find({parent.first, middle});
    const auto right = partial_.find({middle, parent.second});
    if (left == partial_.end() || right == partial_.end()) {
      return;
    }
    at::Tensor sum = std::move(left->second);
    sum.add_(right->second);
    partial_.erase(left);
    partial_.erase(right);
    partial_[parent] = std::move(sum);
    node = parent;
  }
}

at::Tensor GradientSum::finish() {
  const c10::NoGradGuard no_history;
  at::Tensor sum = count_ == 0 ? at::Tensor() : join_rest({0, count_});
  partial_.clear();
  count_ = 0;
  return sum;
}

at::Tensor GradientSum::join_rest(Range node) {
  if (const auto known = partial_.find(node); known != partial_.end()) {
    return std::move(known->second);
  }
  if (node.second - node.first == 1) {
    return {};
  }
  const int64_t middle = node.first + tree_split(node.second - node.first);
  at::Tensor left = join_rest({node.first, middle});
  const at::Tensor right = join_rest({middle, node.second});
  if (!left.defined()) {
    return right;
  }
  return right.defined() ? left.add_(right) : left;
}

}  // namespace brigade::zero
