// SPDX-License-Identifier: Apache-2.0
/// The largest and the smallest elements over dims, and where they are.
///
///   ShardedTensor top = amax(logits, {-1}, /*keep_dim=*/true);
///   ShardedTensor guess = argmax(logits, -1);                  // also if the last dim is split
///
/// Shape:  as reduce.h.
/// Errors: kType, as sharding::plan_reduce; the communicator's. Thrown as Exception.
#pragma once

#include "parallel/tensor/ops/reduce.h"

namespace brigade::tensor {

/// NaN where there is one. The gradient goes to all elements
/// that are equal to it, in equal parts.
///
/// Collective: backward, where a reduced dim is split: an all-reduce that counts the equal ones.
/// Errors:     kUsage for an `out` that keeps extremes unreduced of a tensor that needs a gradient:
///             no rank knows whether the extreme is its own.
ShardedTensor amax(const ShardedTensor& x,
                   at::IntArrayRef dims,
                   bool keep_dim = false,
                   const Out& out = std::nullopt);
ShardedTensor amin(const ShardedTensor& x,
                   at::IntArrayRef dims,
                   bool keep_dim = false,
                   const Out& out = std::nullopt);

/// Where along `dim` they are, as i64 without gradient; the lowest index of equal ones, on every
/// mesh.
/// Collective: forward, where the dim is split: two all-reduces, of values and of indices.
ShardedTensor argmax(const ShardedTensor& x, int64_t dim, bool keep_dim = false);
ShardedTensor argmin(const ShardedTensor& x, int64_t dim, bool keep_dim = false);

}  // namespace brigade::tensor
