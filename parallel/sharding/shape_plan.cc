// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/shape_plan.h"

#include <algorithm>
#include <utility>

#include "parallel/base/text.h"

namespace brigade::sharding {
namespace {

OpPlan free_plan(size_t operands, TensorType result, std::string reason) {
  OpPlan plan;
  plan.inputs.resize(operands);
  plan.local_result = std::move(result);
  plan.reason = std::move(reason);
  return plan;
}

Result<void> check_dim(std::string_view op,
                       const mesh::Mesh& mesh,
                       const TensorType& operand,
                       int64_t dim) {
  if (Result<void> legal = operand.spec.check(mesh, operand.global.size()); !legal) {
    return fail(ErrorCode::kType, concat(op, ": ", legal.error().text));
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
    return fail(ErrorCode::kType,
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

}  // namespace

Result<OpPlan> plan_transpose(const mesh::Mesh& mesh,
                              const TensorType& operand,
                              std::span<const int64_t> permutation) {
  std::vector<int64_t> sorted(permutation.begin(), permutation.end());
  std::sort(sorted.begin(), sorted.end());
  bool complete = sorted.size() == operand.global.size();
  for (size_t dim = 0; complete && dim < sorted.size(); ++dim) {
    complete = sorted[dim] == static_cast<int64_t>(dim);
  }
  if (!complete) {
    return fail(ErrorCode::kType,
                concat("transpose: (",
                       join(permutation),
                       ") is no order of the ",
                       operand.global.size(),
                       " dims of ",
                       operand.to_string()));
  }
  if (Result<void> legal = operand.spec.check(mesh, operand.global.size()); !legal) {
    return fail(ErrorCode::kType, concat("transpose: ", legal.error().text));
  }
  TensorType result{operand.dtype, {}, PartitionSpec()};
  std::vector<AxisNames> dims;
  for (const int64_t dim : permutation) {
    result.global.push_back(operand.global[static_cast<size_t>(dim)]);
    dims.push_back(operand.spec.dim(static_cast<size_t>(dim)));
  }
  result.spec = PartitionSpec(std::move(dims)).with_sets_of(operand.spec);
  return free_plan(1, std::move(result), "transpose");
}

Result<OpPlan> plan_concat(const mesh::Mesh& mesh,
                           std::span<const TensorType> operands,
                           int64_t dim) {
  if (operands.empty()) {
    return fail(ErrorCode::kType, "concat: expected an operand");
  }
  TensorType result = operands.front();
  if (Result<void> legal = check_dim("concat", mesh, result, dim); !legal) {
    return fail(legal.error());
  }
  const auto at = static_cast<size_t>(dim);
  result.global[at] = 0;
  for (size_t index = 0; index < operands.size(); ++index) {
    TensorType empty = operands[index];
    if (empty.global.size() == result.global.size()) {
      empty.global[at] = result.global[at];
    }
    if (empty != result) {
      return fail(ErrorCode::kType,
                  concat("concat along dim ",
                         dim,
                         ": all operands should have the same sharding, element type and other "
                         "sizes; operand 0 is ",
                         operands.front().to_string(mesh),
                         ", operand ",
                         index,
                         " is ",
                         operands[index].to_string(),
                         "; reshard one of them"));
    }
    if (Result<void> whole = check_whole("concat", mesh, operands[index], at); !whole) {
      return fail(whole.error());
    }
    result.global[at] += operands[index].global[at];
  }
  return free_plan(operands.size(), std::move(result), "concat");
}

Result<OpPlan> plan_slice(
    const mesh::Mesh& mesh, const TensorType& operand, int64_t dim, int64_t begin, int64_t end) {
  if (Result<void> legal = check_dim("slice", mesh, operand, dim); !legal) {
    return fail(legal.error());
  }
  TensorType result = operand;
  int64_t& size = result.global[static_cast<size_t>(dim)];
  if (begin < 0 || begin > end || end > size) {
    return fail(ErrorCode::kType,
                concat("slice: [",
                       begin,
                       ", ",
                       end,
                       ") is not within dim ",
                       dim,
                       " of ",
                       operand.to_string(mesh)));
  }
  if (end - begin != size) {
    if (Result<void> whole = check_whole("slice", mesh, operand, static_cast<size_t>(dim));
        !whole) {
      return fail(whole.error());
    }
  }
  size = end - begin;
  return free_plan(1, std::move(result), "slice");
}

}  // namespace brigade::sharding
