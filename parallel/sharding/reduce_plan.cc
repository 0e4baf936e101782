// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/reduce_plan.h"

#include <algorithm>
#include <utility>

#include "parallel/base/text.h"
#include "parallel/sharding/operand_specs.h"

namespace brigade::sharding {
namespace {

/// Which dims go, as flags.
Result<std::vector<bool>> mark_dims(const OperandSpecs& specs, std::span<const int64_t> dims) {
  std::vector<bool> gone(specs.operand(0).global.size());
  for (const int64_t dim : dims) {
    if (dim < 0 || dim >= static_cast<int64_t>(gone.size()) || gone[static_cast<size_t>(dim)]) {
      return specs.error(
          concat("dims (", join(dims), ") are not different dims of ", specs.name(0)));
    }
    gone[static_cast<size_t>(dim)] = true;
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
                           std::optional<PartitionSpec> out) {
  const OperandSpecs specs(mesh, std::string(to_string(reduction)), {&operand, 1});
  if (Result<void> legal = specs.check(true, reduction); !legal) {
    return fail(legal.error());
  }
  const Result<std::vector<bool>> gone = mark_dims(specs, dims);
  if (!gone) {
    return fail(gone.error());
  }
  OpPlan plan;
  plan.inputs.resize(1);
  plan.local_result.dtype = operand.dtype;
  AxisNames terms;
  std::vector<AxisNames> left;
  for (size_t dim = 0; dim < operand.global.size(); ++dim) {
    const AxisNames& axes = operand.spec.dim(dim);
    if ((*gone)[dim]) {
      terms.insert(terms.end(), axes.begin(), axes.end());
    }
    if (!(*gone)[dim] || keep_dims) {
      plan.local_result.global.push_back((*gone)[dim] ? 1 : operand.global[dim]);
      left.push_back((*gone)[dim] ? AxisNames() : axes);
    }
  }
  const PartitionSpec joined = PartitionSpec(std::move(left)).with_sets_of(operand.spec);
  AxisNames unreduced = operand.spec.unreduced();
  unreduced.insert(unreduced.end(), terms.begin(), terms.end());
  plan.local_result.spec = joined.with_unreduced(std::move(unreduced), reduction);
  if (out) {
    Result<void> legal = check_out(specs, mesh, reduction, plan.local_result, *out);
    if (!legal) {
      return fail(legal.error());
    }
  }
  Result<Casts> output = plan_reshard(mesh, plan.local_result, out.value_or(joined));
  if (!output) {
    return specs.error(concat("out=: ", output.error().text));
  }
  plan.output = std::move(*output);
  plan.reason = concat(to_string(reduction),
                       terms.empty() ? "" : concat(": a reduced dim is split over ", join(terms)));
  return plan;
}

}  // namespace brigade::sharding
