// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "parallel/base/text.h"
#include "parallel/sharding/shape_plan.h"
#include "parallel/sharding/shape_rules.h"
#include "parallel/sharding/type_rule.h"

namespace brigade::sharding {
namespace {

Result<void> check_padding(const mesh::Mesh& mesh,
                           const TensorType& operand,
                           int64_t dim,
                           const Padding& padding,
                           bool zeros) {
  if (Result<void> legal = check_dim("pad", mesh, operand, dim); !legal) {
    return legal;
  }
  if (padding.low < 0 || padding.high < 0 || padding.interior < 0) {
    return fail(ErrorCode::kType,
                concat("pad: dim ",
                       dim,
                       " of ",
                       operand.to_string(mesh),
                       ": expected numbers of elements, found low ",
                       padding.low,
                       ", high ",
                       padding.high,
                       ", interior ",
                       padding.interior));
  }
  if (!zeros && !operand.spec.unreduced().empty()) {
    return fail_type(rule::kUnreduced,
                     concat("pad: ",
                            operand.to_string(mesh),
                            " is unreduced, so a value other than 0 would be added once per term; "
                            "reshard it to finish the sum"));
  }
  return {};
}

Result<void> check_divides(const mesh::Mesh& mesh,
                           const TensorType& operand,
                           int64_t dim,
                           int64_t padded) {
  const auto at = static_cast<size_t>(dim);
  const AxisNames& axes = operand.spec.dim(at);
  const int64_t parts = mesh.axes_size(axes);
  if (operand.global[at] % parts != 0 || padded % parts != 0) {
    return fail_type(rule::kShardedDim,
                     concat("pad: dim ",
                            dim,
                            " of ",
                            operand.to_string(mesh),
                            " is split over ",
                            join(axes),
                            "; its size and the padded one, ",
                            padded,
                            ", must divide by ",
                            parts,
                            "; reshard it first"));
  }
  return {};
}

}  // namespace

Result<OpPlan> plan_pad(const mesh::Mesh& mesh,
                        const TensorType& operand,
                        int64_t dim,
                        const Padding& padding,
                        bool zeros) {
  if (Result<void> legal = check_padding(mesh, operand, dim, padding, zeros); !legal) {
    return fail(legal.error());
  }
  const auto at = static_cast<size_t>(dim);
  const int64_t size = operand.global[at];
  TensorType result = operand;
  result.global[at] =
      size + padding.low + padding.high + (size > 1 ? (size - 1) * padding.interior : 0);
  const AxisNames axes = operand.spec.dim(at);
  if (mesh.axes_size(axes) == 1 || result.global[at] == size) {
    return free_plan(1, std::move(result), "pad");
  }
  if (Result<void> divides = check_divides(mesh, operand, dim, result.global[at]); !divides) {
    return fail(divides.error());
  }
  result.spec = operand.spec.with_dim(at, {});
  Result<Casts> gathers = plan_reshard(mesh, operand, result.spec);
  if (!gathers) {
    return fail(gathers.error());
  }
  OpPlan plan = free_plan(
      1,
      std::move(result),
      concat(
          "pad: dim ", dim, " is split over ", join(axes), " and gathered to move its elements"));
  plan.inputs[0] = std::move(*gathers);
  return with_out("pad", mesh, std::move(plan), operand.spec);
}

}  // namespace brigade::sharding
