// SPDX-License-Identifier: Apache-2.0
/// Sums by segment: what scatter-add does.
///
///   ShardedTensor load = segment_sum(ones, expert_of_token, experts, PartitionSpec());
#pragma once

#include <cstdint>
#include <optional>

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// x [n, D...], ids [n] of i64 or i32 in [0, segments) -> [segments, D...]: row s is the sum of the
/// rows whose id is s. The gradient of a row is its segment's.
///
/// Where rows are split each rank has one term of a sum: `out` says what becomes of it.
///
/// Collective: where `out` asks, as the casts of the plan (sharding/segment_plan.h).
/// Cost:       those casts: a reduction of the result.
/// Errors:     kType naming both operands, the axis and `out=`; kData for an id that is no segment;
///             the communicator's. Thrown as Exception.
ShardedTensor segment_sum(const ShardedTensor& x,
                          const ShardedTensor& ids,
                          int64_t segments,
                          const std::optional<sharding::PartitionSpec>& out = {});

}  // namespace brigade::tensor
