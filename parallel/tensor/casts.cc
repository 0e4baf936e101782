// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/casts.h"

#include <string>
#include <utility>

#include <ATen/ATen.h>

#include "parallel/base/check.h"
#include "parallel/tensor/buffers.h"
#include "parallel/tensor/move.h"
#include "parallel/tensor/node.h"
#include "parallel/tensor/plan_key.h"
#include "parallel/tensor/program.h"

namespace brigade::tensor {
namespace {

Cause cause_of(const PlannedCast& cast, Pass pass) {
  return {pass, cast.cause->reason, cast.cause->op};
}

class CastNode final : public OpNode {
 public:
  CastNode(Program& program, const PlannedCast& cast) : program_(program), cast_(cast) {}

  std::vector<at::Tensor> backward(const std::vector<at::Tensor>& gradients) override {
    // Asserts the type of the cotangent.
    const ShardedTensor cotangent(program_, cast_.cotangent, gradients[0]);
    return {move(program_,
                 cast_.cotangent->type,
                 cast_.back,
                 cotangent.local(),
                 cause_of(cast_, Pass::kBackward))};
  }

 private:
  Program& program_;
  const PlannedCast& cast_;
};

at::Tensor apply(Program& program, const PlannedCast& cast, const at::Tensor& local) {
  const bool recorded = needs_gradient({local});
  if (recorded && cast.cotangent == nullptr) {
    (void)dual(cast.from->type);  // says why there is none; terms of a maximum are made by no cast
  }
  at::Tensor result;
  {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    result = move(program, cast.from->type, cast.step, local, cause_of(cast, Pass::kForward));
    if (result.is_same(local)) {
      result = at::alias(result);  // a tensor of its own, for a history of its own
    }
  }
  if (recorded) {
    record(make_node<CastNode>(program, cast), {local}, result);
  }
  return result;
}

}  // namespace

ShardedTensor cast(const ShardedTensor& tensor, const PlannedCasts& casts) {
  if (casts.to == nullptr) {
    return tensor;
  }
  at::Tensor local = tensor.local();
  for (const PlannedCast& step : casts.steps) {
    local = apply(tensor.program(), step, local);
  }
  return ShardedTensor(tensor.program(), casts.to, std::move(local));
}

ShardedTensor recast(const ShardedTensor& tensor,
                     const PlannedCasts& casts,
                     const at::Tensor& result) {
  BRIGADE_CHECK(!casts.steps.empty());
  Program& program = tensor.program();
  at::Tensor local = tensor.local();
  for (const PlannedCast& step : casts.steps) {
    at::Tensor next = &step == &casts.steps.back()
                          ? result.detach()
                          : shape_alone(local_shape(program, step.to->type), result.options());
    if (needs_gradient({local})) {
      record(make_node<CastNode>(program, step), {local}, next);
    }
    local = std::move(next);
  }
  return ShardedTensor(program, casts.to, std::move(local));
}

ShardedTensor reshard(const ShardedTensor& tensor,
                      const sharding::PartitionSpec& spec,
                      std::string_view reason) {
  if (tensor.type().spec == spec) {
    return tensor;
  }
  Program& program = tensor.program();
  const Planned& planned =
      program.plan(PlanKey("reshard", tensor, spec, reason), [&]() -> Result<sharding::OpPlan> {
        Result<sharding::Casts> casts = sharding::plan_reshard(program.mesh(), tensor.type(), spec);
        if (!casts) {
          return fail(casts.error());
        }
        sharding::OpPlan plan;
        plan.local_result = {tensor.type().dtype, tensor.type().global, spec};
        plan.inputs = {std::move(*casts)};
        plan.reason = reason;
        return plan;
      });
  return cast(tensor, planned.inputs[0]);
}

}  // namespace brigade::tensor
