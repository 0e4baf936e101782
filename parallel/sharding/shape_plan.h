// SPDX-License-Identifier: Apache-2.0
/// Plans of ops that rearrange values: transpose, reshape, broadcast, concat, slice, pad and kin.
///
///   plan_reshape(mesh, type("f32[8@(x,y)]"), {2, 4}, {});   // f32[2@x,4@y], nothing moves
///   plan_concat(mesh, {{a, b}}, 1);                         // dim 1 whole in both, specs equal
///
/// All let unreduced and reduced sets through. Where local data would not line up with the shards
/// of the result they refuse, name the dim and say what would work: nothing moves unasked. `out`
/// asks: the result is then cast to it, and reshape may gather the dims that stand in its way.
#pragma once

#include <cstdint>
#include <optional>
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

/// Without `out`: at most one change beside dims of size 1 that come or go: one dim split in
/// several, or several merged into one. A split hands the axes to the leading new dims, each of
/// which must divide; a merge needs every dim before its last split one to be split down to single
/// elements, and even sizes. With `out`, any: axes that cannot be carried are gathered.
/// Errors: kType for everything else, also where the dims concerned are not split; names `out`.
Result<OpPlan> plan_reshape(const mesh::Mesh& mesh,
                            const TensorType& operand,
                            const Shape& shape,
                            const std::optional<PartitionSpec>& out = {});

/// A new dim of size 1 before dim `dim`, or last.
Result<OpPlan> plan_expand_dims(const mesh::Mesh& mesh, const TensorType& operand, int64_t dim);

/// Without dim `dim`, which is of size 1 and not split.
Result<OpPlan> plan_squeeze(const mesh::Mesh& mesh, const TensorType& operand, int64_t dim);

/// Repeats the operand along new leading dims and along its dims of size 1, which must not be
/// split. These become whole, or split as `out` says: a new dim split over an axis that holds equal
/// copies costs nothing, and each rank's gradient becomes a term of the operand's: replicated
/// copies are marked reduced.
Result<OpPlan> plan_broadcast(const mesh::Mesh& mesh,
                              const TensorType& operand,
                              const Shape& shape,
                              const std::optional<PartitionSpec>& out = {});

/// Operands of equal specs and sizes but for `dim`, which no axis of size above 1 may split.
Result<OpPlan> plan_concat(const mesh::Mesh& mesh,
                           std::span<const TensorType> operands,
                           int64_t dim);

/// Operands of equal types along a new dim before dim `dim`, or last.
Result<OpPlan> plan_stack(const mesh::Mesh& mesh,
                          std::span<const TensorType> operands,
                          int64_t dim);

/// Elements [begin, end) of `dim`, which no axis of size above 1 may split unless all are taken.
Result<OpPlan> plan_slice(
    const mesh::Mesh& mesh, const TensorType& operand, int64_t dim, int64_t begin, int64_t end);

/// Elements added to a dim: before it, behind it, and between each two of its elements.
struct Padding {
  int64_t low = 0;
  int64_t high = 0;
  int64_t interior = 0;
};

/// `zeros`: the elements added are zeros; an unreduced operand takes no others, since every term
/// gets them. A split dim is gathered, padded and sliced again; its old and new size must divide.
Result<OpPlan> plan_pad(const mesh::Mesh& mesh,
                        const TensorType& operand,
                        int64_t dim,
                        const Padding& padding,
                        bool zeros);

}  // namespace brigade::sharding
