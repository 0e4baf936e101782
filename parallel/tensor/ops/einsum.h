// SPDX-License-Identifier: Apache-2.0
/// Matrix products of sharded tensors, in einsum notation.
#pragma once

#include <optional>
#include <string_view>

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// Two operands, one letter per dim, no repeated letter within an operand. Where both sides shard
/// the contraction, `out` says what becomes of the partial sums (see sharding::plan_einsum). Cost:
/// what the plan's casts move, forward and backward; the local products go through the matmul seam.
/// Errors: kType, thrown.
ShardedTensor einsum(std::string_view equation,
                     const ShardedTensor& a,
                     const ShardedTensor& b,
                     std::optional<sharding::PartitionSpec> out = {});

}  // namespace brigade::tensor
