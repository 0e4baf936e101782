// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/text.h"
#include "parallel/sharding/elementwise_plan.h"

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

}  // namespace brigade::sharding
