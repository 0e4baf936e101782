// SPDX-License-Identifier: Apache-2.0
/// Plans of ops that make element i of their result of element i of each operand.
///
/// One rule for the dims: operands broadcast from the right; where one is split, an operand that
/// has the same dim whole is sliced to match, one that lacks the dim is used as it is. Two
/// different splits of a dim are refused. The copies follow operand_specs.h, so `x * gain` with a
/// reduced gain beside a split x needs no reshard: the gain's gradient is a term of a sum per rank.
///
/// What an op does with an unreduced operand - one that is a term of a sum on each rank - is a
/// matter of its algebra, and nothing else about it is:
///
///   plan_elementwise(mesh, "add", {{a, b}}, Algebra::kSum);         // all alike, or none
///   plan_elementwise(mesh, "mul", {{a, b}}, Algebra::kProduct);     // one, beside reduced ones
///   plan_elementwise(mesh, "maximum", {{a, b}}, Algebra::kOther);   // none
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "parallel/base/dtype.h"
#include "parallel/base/result.h"
#include "parallel/mesh/mesh.h"
#include "parallel/sharding/op_plan.h"

namespace brigade::sharding {

/// What an op is as a function of its operands. Decides which may be unreduced.
enum class Algebra {
  kOther,     ///< none may
  kSum,       ///< linear in all together (add, negate): all may, over the same axes
  kProduct,   ///< linear in each alone: one may, if all others are reduced over its axes
  kQuotient,  ///< linear in the first alone, which may, as in a product
  kChoice,    ///< linear in all but the first, a mask: those may, over the same axes
  kTest,      ///< none may; gives bool, so that no operand is owed a gradient
};

/// The result has the element type of the operands that are not bool, which must be one; bool for a
/// test. Quotients are of floats, the first operand of a choice is bool.
/// Errors: kType for two different axes on one dim, for an unreduced operand that the op does not
///         let through, for mixed element types. All name the operands and `reshard`.
Result<OpPlan> plan_elementwise(const mesh::Mesh& mesh,
                                std::string_view op,
                                std::span<const TensorType> operands,
                                Algebra algebra);

/// One operand: its dims and sets are the result's. Algebra::kSum if the op is linear, kOther if
/// not. `to`: the result's element type; an operand that is rounded to whole numbers or to bool
/// must not be unreduced, whatever the algebra.
Result<OpPlan> plan_unary(const mesh::Mesh& mesh,
                          std::string_view op,
                          const TensorType& operand,
                          Algebra algebra,
                          std::optional<DType> to = std::nullopt);

/// The operand's elements are floats, as those of exp() must be.
/// Errors: kType naming the operand and `to`.
Result<void> expect_floats(const mesh::Mesh& mesh, std::string_view op, const TensorType& operand);

}  // namespace brigade::sharding
