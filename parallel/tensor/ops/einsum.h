// SPDX-License-Identifier: Apache-2.0
/// Matrix products of sharded tensors, in einsum notation.
#pragma once

#include <optional>
#include <string_view>

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// Two operands, one letter per dim, no repeated letter within an operand. Where both sides shard
/// the contraction, `out` says what becomes of the partial sums (see sharding::plan_einsum). The
/// local products go through the matmul seam.
///
/// Collective: where a cast of the plan communicates, forward or backward (casts.h).
/// Cost:       what those casts move: a gather or reduce-scatter of an operand, an all-reduce or
///             reduce-scatter of the result; the dual casts backward.
/// Errors:     kType, as sharding::plan_einsum; the communicator's. Thrown as Exception.
ShardedTensor einsum(std::string_view equation,
                     const ShardedTensor& a,
                     const ShardedTensor& b,
                     std::optional<sharding::PartitionSpec> out = {});

/// a [..., m, k] by b [k, n] or [..., k, n] -> [..., m, n], as einsum: batch dims are equal.
ShardedTensor matmul(const ShardedTensor& a,
                     const ShardedTensor& b,
                     std::optional<sharding::PartitionSpec> out = {});

}  // namespace brigade::tensor
