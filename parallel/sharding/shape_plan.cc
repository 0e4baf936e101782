// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/shape_plan.h"

#include <algorithm>
#include <utility>

#include "parallel/base/text.h"
#include "parallel/sharding/shape_rules.h"
#include "parallel/sharding/type_rule.h"

namespace brigade::sharding {
namespace {

std::vector<AxisNames> all_dims(const TensorType& operand) {
  std::vector<AxisNames> dims;
  for (size_t dim = 0; dim < operand.global.size(); ++dim) {
    dims.push_back(operand.spec.dim(dim));
  }
  return dims;
}

Result<void> check_new_dim(std::string_view op,
                           const mesh::Mesh& mesh,
                           const TensorType& operand,
                           int64_t dim) {
  if (Result<void> legal = check_legal(op, mesh, operand); !legal) {
    return legal;
  }
  const auto rank = static_cast<int64_t>(operand.global.size());
  if (dim < 0 || dim > rank) {
    return fail(
        ErrorCode::kType,
        concat(op, ": a new dim of ", operand.to_string(mesh), " is 0 to ", rank, ", found ", dim));
  }
  return {};
}

TensorType with_new_dim(const TensorType& operand, int64_t dim, int64_t size) {
  TensorType result = operand;
  result.global.insert(result.global.begin() + dim, size);
  std::vector<AxisNames> dims = all_dims(operand);
  dims.insert(dims.begin() + dim, AxisNames());
  result.spec = carry_sets(operand.spec, dims);
  return result;
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
  if (Result<void> legal = check_legal("transpose", mesh, operand); !legal) {
    return fail(legal.error());
  }
  TensorType result{operand.dtype, {}, PartitionSpec()};
  std::vector<AxisNames> dims;
  for (const int64_t dim : permutation) {
    result.global.push_back(operand.global[static_cast<size_t>(dim)]);
    dims.push_back(operand.spec.dim(static_cast<size_t>(dim)));
  }
  result.spec = carry_sets(operand.spec, dims);
  return free_plan(1, std::move(result), "transpose");
}

Result<OpPlan> plan_expand_dims(const mesh::Mesh& mesh, const TensorType& operand, int64_t dim) {
  if (Result<void> legal = check_new_dim("expand_dims", mesh, operand, dim); !legal) {
    return fail(legal.error());
  }
  return free_plan(1, with_new_dim(operand, dim, 1), "expand_dims");
}

Result<OpPlan> plan_squeeze(const mesh::Mesh& mesh, const TensorType& operand, int64_t dim) {
  if (Result<void> legal = check_dim("squeeze", mesh, operand, dim); !legal) {
    return fail(legal.error());
  }
  const auto at = static_cast<size_t>(dim);
  if (operand.global[at] != 1) {
    return fail(ErrorCode::kType,
                concat("squeeze: dim ", dim, " of ", operand.to_string(mesh), " is not of size 1"));
  }
  if (Result<void> whole = check_whole("squeeze", mesh, operand, at); !whole) {
    return fail(whole.error());
  }
  TensorType result = operand;
  result.global.erase(result.global.begin() + dim);
  std::vector<AxisNames> dims = all_dims(operand);
  dims.erase(dims.begin() + dim);
  result.spec = carry_sets(operand.spec, dims);
  return free_plan(1, std::move(result), "squeeze");
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
      return fail_type(
          rule::kUnequalOperands,
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

Result<OpPlan> plan_stack(const mesh::Mesh& mesh,
                          std::span<const TensorType> operands,
                          int64_t dim) {
  if (operands.empty()) {
    return fail(ErrorCode::kType, "stack: expected an operand");
  }
  const TensorType& first = operands.front();
  if (Result<void> legal = check_new_dim("stack", mesh, first, dim); !legal) {
    return fail(legal.error());
  }
  for (size_t index = 1; index < operands.size(); ++index) {
    if (operands[index] != first) {
      return fail_type(rule::kUnequalOperands,
                       concat("stack: all operands should have the same type; operand 0 is ",
                              first.to_string(mesh),
                              ", operand ",
                              index,
                              " is ",
                              operands[index].to_string(),
                              "; reshard one of them"));
    }
  }
  return free_plan(
      operands.size(), with_new_dim(first, dim, static_cast<int64_t>(operands.size())), "stack");
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
