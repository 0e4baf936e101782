// SPDX-License-Identifier: Apache-2.0
/// Plans of lookups: rows of a table by integers, for any sharding of the table.
///
///   plan_take(mesh, type("f32[64@x,16]"), ids("i64[8,4]"), 1, {});    // f32[64@x,8,4]
///   plan_take_along(mesh, logits, targets, 2, spec);                  // the targets' logits
///
/// Planned as products of one-hot indices and the table (one_hot_plan.h). Where the dim looked up
/// in is split, a rank finds what lies in its interval, zeros elsewhere, and has one term of a sum:
/// `out` says what becomes of it.
#pragma once

#include <cstdint>
#include <optional>

#include "parallel/base/result.h"
#include "parallel/mesh/mesh.h"
#include "parallel/sharding/op_plan.h"

namespace brigade::sharding {

/// Entries of dim `dim` of `table` by `indices` of any rank, whose dims stand in the result where
/// `dim` stood: jnp's table.at[:, indices] for dim 1.
///
/// `out` is needed where indices are split or `dim` is. Axes of `dim` that split the indices too
/// are gathered; so are axes of other dims that `out` keeps on the indices.
/// OpPlan::inputs: indices, table.
/// Errors: kType naming both operands, the axis and `out=`; also for indices that would move.
Result<OpPlan> plan_take(const mesh::Mesh& mesh,
                         const TensorType& table,
                         const TensorType& indices,
                         int64_t dim,
                         const std::optional<PartitionSpec>& out);

/// For each position along the other dims, entries of dim `dim` by indices of its own: indices and
/// table have equal sizes but for `dim`. Dims that one of them does not split are cut as the
/// other's.
/// As plan_take otherwise.
Result<OpPlan> plan_take_along(const mesh::Mesh& mesh,
                               const TensorType& table,
                               const TensorType& indices,
                               int64_t dim,
                               const std::optional<PartitionSpec>& out);

/// What plan_take gives if asked for nothing: splits carried from both operands, terms left
/// unreduced. Not always a legal spec.
PartitionSpec taken_spec(const TensorType& table, const TensorType& indices, size_t dim);

}  // namespace brigade::sharding
