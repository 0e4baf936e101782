// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/shape_rules.h"

#include <utility>

#include "parallel/base/text.h"
#include "parallel/sharding/type_rule.h"

namespace brigade::sharding {

Result<void> check_legal(std::string_view op, const mesh::Mesh& mesh, const TensorType& operand) {
  if (Result<void> legal = operand.spec.check(mesh, operand.global.size()); !legal) {
    return fail_within(concat(op, ": operand ", operand.to_string(), ": "), legal.error());
  }
  return {};
}

Result<void> check_dim(std::string_view op,
                       const mesh::Mesh& mesh,
                       const TensorType& operand,
                       int64_t dim) {
  if (Result<void> legal = check_legal(op, mesh, operand); !legal) {
    return legal;
  }
  if (dim < 0 || dim >= static_cast<int64_t>(operand.global.size())) {
    return fail(ErrorCode::kType, concat(op, ": ", operand.to_string(mesh), " has no dim ", dim));
  }
  return {};
}

Result<void> check_whole(std::string_view op,
                         const mesh::Mesh& mesh,
                         const TensorType& operand,
                         size_t dim) {
  const AxisNames& axes = operand.spec.dim(dim);
  if (mesh.axes_size(axes) > 1) {
    return fail_type(rule::kShardedDim,
                     concat(op,
                            ": dim ",
                            dim,
                            " of ",
                            operand.to_string(mesh),
                            " is split over ",
                            join(axes),
                            " (",
                            mesh.axes_size(axes),
                            " parts); reshard it first, or work on the parts in shard_map"));
  }
  return {};
}

OpPlan free_plan(size_t operands, TensorType result, std::string reason) {
  OpPlan plan;
  plan.inputs.resize(operands);
  plan.local_result = std::move(result);
  plan.reason = std::move(reason);
  return plan;
}

PartitionSpec carry_sets(const PartitionSpec& from, const std::vector<AxisNames>& dims) {
  return PartitionSpec(dims).with_sets_of(from);
}

Result<OpPlan> with_out(std::string_view op,
                        const mesh::Mesh& mesh,
                        OpPlan plan,
                        const std::optional<PartitionSpec>& out) {
  if (!out) {
    return plan;
  }
  Result<Casts> casts = plan_reshard(mesh, plan.local_result, *out);
  if (!casts) {
    return fail_within(concat(op, ": out=: "), casts.error());
  }
  plan.output = std::move(*casts);
  return plan;
}

}  // namespace brigade::sharding
