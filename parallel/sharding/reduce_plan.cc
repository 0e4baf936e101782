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
    return specs.error(concat("out=: ", legal.error().text), legal.error().rule);
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
                           std::optional<PartitionSpec> out,
                           std::string_view op) {
  const std::string name(op.empty() ? to_string(reduction) : op);
  const OperandSpecs specs(mesh, name, {&operand, 1});
  if (Result<void> legal = specs.check(true, reduction); !legal) {
    return fail(legal.error());
  }
  const Result<std::vector<bool>> gone = mark_dims(specs, dims);
  if (!gone) {
    return fail(gone.error());
  }
  OpPlan plan;
  plan.inputs.resize(1);
  const bool counts = reduction == Reduction::kSum && operand.dtype == DType::kBool;
  plan.local_result.dtype = counts ? DType::kInt64 : operand.dtype;
  AxisNames terms;
  std::vector<AxisNames> left;
  for (size_t dim = 0; dim < operand.global.size(); ++dim) {
    const AxisNames& axes = operand.spec.dim(dim);
    if ((*gone)[dim] && reduction != Reduction::kSum && operand.global[dim] == 0) {
      return specs.error(concat("dim ", dim, " of ", specs.name(0), " has no elements"));
    }
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
    return specs.error(concat("out=: ", output.error().text), output.error().rule);
  }
  plan.output = std::move(*output);
  plan.reason =
      concat(name, terms.empty() ? "" : concat(": a reduced dim is split over ", join(terms)));
  return plan;
}

Result<OpPlan> plan_index_of_extreme(const mesh::Mesh& mesh,
                                     std::string_view op,
                                     const TensorType& operand,
                                     int64_t dim,
                                     bool keep_dim) {
  const TensorType copies{operand.dtype, operand.global, operand.spec.with_reduced({})};
  if (Result<void> legal = OperandSpecs(mesh, std::string(op), {&copies, 1}).check(false); !legal) {
    return fail(legal.error());
  }
  Result<OpPlan> plan =
      plan_reduce(mesh, Reduction::kMin, copies, {&dim, 1}, keep_dim, std::nullopt, op);
  if (plan) {
    plan->local_result.dtype = DType::kInt64;
    for (CastStep& step : plan->output) {
      step.to.dtype = DType::kInt64;
    }
  }
  return plan;
}

}  // namespace brigade::sharding
