// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/along_plan.h"

#include <string>
#include <utility>
#include <vector>

#include "parallel/base/text.h"
#include "parallel/sharding/shape_rules.h"
#include "parallel/sharding/type_rule.h"

namespace brigade::sharding {

Result<OpPlan> plan_along(const mesh::Mesh& mesh,
                          std::string_view op,
                          const TensorType& operand,
                          int64_t dim,
                          bool linear,
                          DType result) {
  if (Result<void> legal = check_dim(op, mesh, operand, dim); !legal) {
    return fail(legal.error());
  }
  if (Result<void> whole = check_whole(op, mesh, operand, static_cast<size_t>(dim)); !whole) {
    return fail(whole.error());
  }
  const bool sums = operand.spec.unreduced_kind() == Reduction::kSum;
  if (!(linear && sums) && !operand.spec.unreduced().empty()) {
    return fail_type(rule::kUnreduced,
                     concat(op,
                            ": ",
                            operand.to_string(mesh),
                            " is unreduced over ",
                            join(mesh.in_mesh_order(operand.spec.unreduced())),
                            ", which only linear ops let through; reshard it to finish the sum"));
  }
  return free_plan(1, {result, operand.global, operand.spec}, std::string(op));
}

Result<OpPlan> plan_unstack(const mesh::Mesh& mesh, const TensorType& operand, int64_t dim) {
  if (Result<void> legal = check_dim("unstack", mesh, operand, dim); !legal) {
    return fail(legal.error());
  }
  if (Result<void> whole = check_whole("unstack", mesh, operand, static_cast<size_t>(dim));
      !whole) {
    return fail(whole.error());
  }
  TensorType result{operand.dtype, {}, operand.spec};
  std::vector<AxisNames> dims;
  for (size_t at = 0; at < operand.global.size(); ++at) {
    if (at != static_cast<size_t>(dim)) {
      result.global.push_back(operand.global[at]);
      dims.push_back(operand.spec.dim(at));
    }
  }
  result.spec = carry_sets(operand.spec, dims);
  return free_plan(1, std::move(result), "unstack");
}

Result<OpPlan> plan_tile(const mesh::Mesh& mesh,
                         const TensorType& operand,
                         std::span<const int64_t> repeats) {
  if (Result<void> legal = check_legal("tile", mesh, operand); !legal) {
    return fail(legal.error());
  }
  if (repeats.size() != operand.global.size()) {
    return fail(ErrorCode::kType,
                concat("tile: expected a number of repeats for each of the ",
                       operand.global.size(),
                       " dims of ",
                       operand.to_string(mesh),
                       ", found (",
                       join(repeats),
                       ")"));
  }
  TensorType result = operand;
  for (size_t dim = 0; dim < repeats.size(); ++dim) {
    if (repeats[dim] < 0) {
      return fail(ErrorCode::kType,
                  concat("tile: dim ",
                         dim,
                         " of ",
                         operand.to_string(mesh),
                         " cannot be repeated ",
                         repeats[dim],
                         " times"));
    }
    if (repeats[dim] != 1) {
      if (Result<void> whole = check_whole("tile", mesh, operand, dim); !whole) {
        return fail(whole.error());
      }
    }
    result.global[dim] *= repeats[dim];
  }
  return free_plan(1, std::move(result), "tile");
}

}  // namespace brigade::sharding
