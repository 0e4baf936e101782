// SPDX-License-Identifier: Apache-2.0
/// Plans of ops that need all elements of a dim: running sums, sorting, rolling, tiling and kin.
///
/// Nothing moves: the dim must be whole. All let reduced sets through, linear ones unreduced sets.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "parallel/base/result.h"
#include "parallel/mesh/mesh.h"
#include "parallel/sharding/op_plan.h"

namespace brigade::sharding {

/// An op called `op` that works along `dim` and keeps the operand's shape and spec; the result's
/// elements are of type `result`.
/// Errors: kType for a dim that is not there or split, and for an unreduced operand unless
///         `linear`.
Result<OpPlan> plan_along(const mesh::Mesh& mesh,
                          std::string_view op,
                          const TensorType& operand,
                          int64_t dim,
                          bool linear,
                          DType result);

/// One of the slices that make up the operand along `dim`, which goes.
/// Errors: kType for a dim that is not there or split.
Result<OpPlan> plan_unstack(const mesh::Mesh& mesh, const TensorType& operand, int64_t dim);

/// The operand repeated `repeats[i]` times along its dim i.
/// Errors: kType for another number of dims, a negative number of repeats, a split dim that is
///         repeated other than once.
Result<OpPlan> plan_tile(const mesh::Mesh& mesh,
                         const TensorType& operand,
                         std::span<const int64_t> repeats);

}  // namespace brigade::sharding
