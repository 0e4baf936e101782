// SPDX-License-Identifier: Apache-2.0
/// Ops that need all elements of a dim: running sums, sorting, rolling, tiling and kin.
///
///   ShardedTensor ranked = argsort(scores, 1);   // (B@data, S) along S
///
/// Shape:      the operand's, but for tile and unstack.
/// Collective: never; local work alone.
/// Errors:     kType for a dim that is not there or split, naming reshard and shard_map
///             (sharding/along_plan.h). Thrown as Exception.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// Element i is the sum of elements 0 to i of the dim.
ShardedTensor cumsum(const ShardedTensor& x, int64_t dim);

enum class Order { kAscending, kDescending };

/// Equal elements keep their order.
ShardedTensor sort(const ShardedTensor& x, int64_t dim, Order order = Order::kAscending);

/// The positions that sort() takes its elements from, i64.
ShardedTensor argsort(const ShardedTensor& x, int64_t dim, Order order = Order::kAscending);

/// The elements in the other order.
ShardedTensor flip(const ShardedTensor& x, int64_t dim);

/// Element i goes to i + shift, around the end.
ShardedTensor roll(const ShardedTensor& x, int64_t shift, int64_t dim);

/// [S_i...] -> [repeats_i * S_i...].
ShardedTensor tile(const ShardedTensor& x, const std::vector<int64_t>& repeats);

/// [.., n, ..] -> n of [.., ..].
std::vector<ShardedTensor> unstack(const ShardedTensor& x, int64_t dim);

}  // namespace brigade::tensor
