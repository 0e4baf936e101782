// SPDX-License-Identifier: Apache-2.0
/// Lookups by integers, for any sharding of the table.
///
///   ShardedTensor rows = take(table, tokens, 0, out);         // [V, D] at [B, S] -> [B, S, D]
///   ShardedTensor logit = take_along(logits, targets, 2, out);  // [B, S, V] at [B, S, 1]
///
/// Where the dim looked up in is split, each rank finds what lies in its interval and zeros
/// elsewhere: one term of a sum, of which `out` says what becomes.
///
/// Collective: where `out` asks; backward where a replicated table meets split indices.
/// Cost:       the casts of the plan (sharding/lookup_plan.h): none, or a reduction of the result
///             or of the table's gradient. Indices are never sent.
/// Errors:     kType naming both operands, the axis and `out=`; kData for an index without an
///             entry; the communicator's. Thrown as Exception.
#pragma once

#include <cstdint>
#include <optional>

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// x [A..., N, C...] by indices [I...] of i64 or i32 -> [A..., I..., C...], N being dim `dim`.
/// `out` is needed where indices or dim are split.
ShardedTensor take(const ShardedTensor& x,
                   const ShardedTensor& indices,
                   int64_t dim,
                   const std::optional<sharding::PartitionSpec>& out = {});

/// x [A..., N, C...] by indices [A..., K, C...] of i64 -> [A..., K, C...]: for each position of the
/// other dims, entries of dim `dim`.
/// `out` is needed where dim is split, in x or in the indices.
ShardedTensor take_along(const ShardedTensor& x,
                         const ShardedTensor& indices,
                         int64_t dim,
                         const std::optional<sharding::PartitionSpec>& out = {});

}  // namespace brigade::tensor
