// SPDX-License-Identifier: Apache-2.0
/// The one order in which anything of ours is summed: a fixed binary tree over an index range.
///
/// sum(lo, hi) = sum(lo, lo + s) + sum(lo + s, hi), with s the largest power of two below hi - lo.
/// So a run of 2^k neighbours is one subtree, and sums made by ranks and sums made over their
/// microbatches are pieces of one tree.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

namespace brigade {

/// s for a range of `width` >= 2 terms.
constexpr int64_t tree_split(int64_t width) {
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(width - 1)));
}

/// The sum over [lo, hi), hi > lo, where `leaf(i)` is the i-th term and `add(a, b)` joins two
/// neighbouring sums.
template <class Leaf, class Add>
auto tree_sum(int64_t lo, int64_t hi, const Leaf& leaf, const Add& add) -> decltype(leaf(lo)) {
  if (hi - lo == 1) {
    return leaf(lo);
  }
  const int64_t middle = lo + tree_split(hi - lo);
  auto left = tree_sum(lo, middle, leaf, add);
  auto right = tree_sum(middle, hi, leaf, add);
  return add(std::move(left), std::move(right));
}

}  // namespace brigade
