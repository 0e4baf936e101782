// SPDX-License-Identifier: Apache-2.0
/// Plans of sums, maxima and minima over dims.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "parallel/base/result.h"
#include "parallel/mesh/mesh.h"
#include "parallel/sharding/op_plan.h"

namespace brigade::sharding {

/// Reduces `dims` of the operand, which go, or stay with size 1 if `keep_dims`.
///
/// A reduced dim that was split leaves one term per rank. Without `out` the terms are all-reduced
/// (the plan says so); `out` may scatter them to a dim, or keep them: unreduced, of the kind of
/// `reduction`. An operand's own unreduced set passes through if its terms are joined likewise, for
/// a sum of sums is a sum and a maximum of maxima a maximum; they mix in no other way.
/// Sums of bool are counts, of i64. `op` names the op in messages and reasons: "sum", "max", "min"
/// if left out.
/// Errors: kType for a dim that is not there or named twice, an operand unreduced of another kind,
/// an extreme over a dim without elements, and an `out` that is unreduced over axes without terms
/// or of another kind.
Result<OpPlan> plan_reduce(const mesh::Mesh& mesh,
                           Reduction reduction,
                           const TensorType& operand,
                           std::span<const int64_t> dims,
                           bool keep_dims,
                           std::optional<PartitionSpec> out,
                           std::string_view op = {});

/// Where along `dim` the largest or smallest element is: an i64 that no gradient leads through. The
/// local result is the least candidate of each rank, in numbers of the whole dim; where the dim is
/// split, the output takes their minimum, so the lowest index wins ties on every mesh.
/// Errors: as plan_reduce, and for any unreduced operand.
Result<OpPlan> plan_index_of_extreme(const mesh::Mesh& mesh,
                                     std::string_view op,
                                     const TensorType& operand,
                                     int64_t dim,
                                     bool keep_dim);

}  // namespace brigade::sharding
