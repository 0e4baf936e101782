// SPDX-License-Identifier: Apache-2.0
/// Plans of ops that move no values between ranks: transpose, reshape, concat, slice.
///
/// All let unreduced and reduced sets through. Where local data would not line up with the shards
/// of the result, they refuse and name the dim: nothing moves unasked.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/mesh/mesh.h"
#include "parallel/sharding/op_plan.h"

namespace brigade::sharding {

/// Dim i of the result is dim `permutation[i]` of the operand.
Result<OpPlan> plan_transpose(const mesh::Mesh& mesh,
                              const TensorType& operand,
                              std::span<const int64_t> permutation);

/// At most one change beside dims of size 1 that come or go: one dim split in several, or several
/// merged into one. A split hands the axes to the leading new dims, each of which must divide; a
/// merge needs every dim before its last split one to be split down to single elements, and even
/// sizes.
/// Errors: kType for everything else, also where the dims concerned are not split.
Result<OpPlan> plan_reshape(const mesh::Mesh& mesh, const TensorType& operand, const Shape& shape);

/// Operands of equal specs and sizes but for `dim`, which no axis of size above 1 may split.
Result<OpPlan> plan_concat(const mesh::Mesh& mesh,
                           std::span<const TensorType> operands,
                           int64_t dim);

/// Elements [begin, end) of `dim`, which no axis of size above 1 may split unless all are taken.
Result<OpPlan> plan_slice(
    const mesh::Mesh& mesh, const TensorType& operand, int64_t dim, int64_t begin, int64_t end);

}  // namespace brigade::sharding
