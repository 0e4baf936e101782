// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/reduce_plan.h"

#include <algorithm>
#include <utility>

#include "parallel/base/text.h"
#include "parallel/sharding/operand_specs.h"

namespace brigade::sharding {
namespace {

/// Which dims go, as flags. There is no largest of no elements.
Result<std::vector<bool>> mark_dims(const OperandSpecs& specs,
                                    Reduction reduction,
                                    std::span<const int64_t> dims) {
  std::vector<bool> gone(specs.operand(0).global.size());
  for (const int64_t dim : dims) {
    if (dim < 0 || dim >= static_cast<int64_t>(gone.size()) || gone[static_cast<size_t>(dim)]) {
      return specs.error(
          concat("dims (", join(dims), ") are not different dims of ", specs.name(0)));
    }
    gone[static_cast<size_t>(dim)] = true;
    if (reduction != Reduction::kSum && specs.operand(0).global[static_cast<size_t>(dim)] == 0) {
      return specs.error(concat("dim ", dim, " of ", specs.name(0), " has no elements"));
    }
  }
  return gone;
}

Result<void> check_out(const OperandSpecs& specs,
                       const mesh::Mesh& mesh,
                       Reduction reduction,
                       const TensorType& local,
                       const PartitionSpec& out) {
  if (Result<void> legal = out.check(mesh, local.global.size()); !legal) {
    return specs.error(concat("out=: ", legal.error().text));
  }
  for (const std::string& axis : out.unreduced()) {
    if (local.spec.state(axis) != AxisState::kUnreduced) {
      return specs.error(concat("out= ",
                                out.to_string(),
                                " is unreduced over ",
                                axis,
                                ", which neither splits a reduced dim of ",
                                specs.name(0),
                                " nor is in its unreduced set"));
    }
  }
  if (!out.unreduced().empty() && out.unreduced_kind() != reduction) {
    return specs.error(concat("out= ",
                              out.to_string(),
                              " holds terms of a ",
                              to_string(out.unreduced_kind()),
                              ", but those of ",
                              local.to_string(mesh),
                              " are a ",
                              to_string(reduction),
                              "'s"));
  }
  return {};
}

}  // namespace

Result<OpPlan> plan_reduce(const mesh::Mesh& mesh,
                           Reduction reduction,
                           const TensorType& operand,
                           std::span<const int64_t> dims,
                           bool keep_dims,
