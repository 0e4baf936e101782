// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/text.h"
#include "parallel/sharding/elementwise_plan.h"
#include "parallel/sharding/operand_specs.h"

namespace brigade::sharding {

Result<void> expect_floats(const mesh::Mesh& mesh, std::string_view op, const TensorType& operand) {
  if (is_float(operand.dtype)) {
    return {};
  }
  return fail(
      ErrorCode::kType,
      concat(op, ": expected floats, found ", operand.to_string(mesh), "; cast it with to()"));
}

Result<OpPlan> plan_unary(const mesh::Mesh& mesh,
                          std::string_view op,
                          const TensorType& operand,
                          Algebra algebra,
                          std::optional<DType> to) {
  const DType dtype = to.value_or(operand.dtype);
  const bool rounds = dtype != operand.dtype && !is_float(dtype);
  Result<OpPlan> plan =
      plan_elementwise(mesh, op, {&operand, 1}, rounds ? Algebra::kOther : algebra);
  if (!plan) {
    return plan;
  }
  TensorType& result = plan->local_result;
  result.dtype = dtype;
  if (!is_float(dtype)) {
    result.spec = result.spec.with_reduced({});  // owed no gradient, as other whole numbers
  }
  plan->reason = op;
  return plan;
}

Result<OpPlan> plan_along_dim(const mesh::Mesh& mesh,
                              std::string_view op,
                              const TensorType& operand,
                              int64_t dim,
                              Algebra algebra,
                              std::optional<DType> to) {
  const OperandSpecs specs(mesh, std::string(op), {&operand, 1});
  if (Result<void> legal = specs.check(true); !legal) {
    return fail(legal.error());
  }
  if (dim < 0 || dim >= static_cast<int64_t>(operand.global.size())) {
    return specs.error(concat(specs.name(0), " has no dim ", dim));
  }
  const AxisNames& axes = operand.spec.dim(static_cast<size_t>(dim));
  if (mesh.axes_size(axes) > 1) {
    return specs.error(concat("dim ",
                              dim,
                              " of ",
                              specs.name(0),
                              " is split over ",
                              join(axes),
                              " (",
                              mesh.axes_size(axes),
                              " parts), and the op works along it; reshard it to a whole dim "
                              "first, or work on the parts in shard_map"));
  }
  return plan_unary(mesh, op, operand, algebra, to);
}

}  // namespace brigade::sharding
