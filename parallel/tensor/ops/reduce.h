// SPDX-License-Identifier: Apache-2.0
/// Sums and means over dims.
///
///   ShardedTensor loss = mean(square(y));               // scalar; one all-reduce if y is split
///   ShardedTensor rows = sum(x, {0}, /*keep_dim=*/false, PartitionSpec().with_unreduced({"x"}));
///
/// Shape:      x loses `dims`, or has size 1 there if `keep_dim`; negative dims count from the end.
///             Without dims: all of them.
/// Out:        what becomes of the terms that split dims leave on each rank. Not given, they are
///             joined by an all-reduce; `out` may scatter them, or keep them unreduced.
/// Collective: forward as `out` says; backward an all-gather where `out` scatters.
/// Errors:     kType, as sharding::plan_reduce; the communicator's. Thrown as Exception.
#pragma once

#include <cstdint>
#include <optional>

#include <ATen/core/Tensor.h>

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

using Out = std::optional<sharding::PartitionSpec>;

/// Linear: unfinished sums pass. Of masks: how many are set, as i64.
ShardedTensor sum(const ShardedTensor& x,
                  at::IntArrayRef dims,
                  bool keep_dim = false,
                  const Out& out = std::nullopt);
ShardedTensor sum(const ShardedTensor& x);

/// Of floats. Divides by the number of elements of the *global* dims, so that uneven shards count
/// for what they hold.
ShardedTensor mean(const ShardedTensor& x,
                   at::IntArrayRef dims,
                   bool keep_dim = false,
                   const Out& out = std::nullopt);
ShardedTensor mean(const ShardedTensor& x);

}  // namespace brigade::tensor
