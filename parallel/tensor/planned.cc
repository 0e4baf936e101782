// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/planned.h"

#include <string>
#include <utility>
#include <vector>

#include "parallel/base/check.h"
#include "parallel/base/philox.h"
#include "parallel/base/text.h"
#include "parallel/tensor/program.h"
#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

using sharding::CastKind;
using sharding::CastStep;
using sharding::TensorType;

namespace {

PlannedCasts prepare_casts(Program& program,
                           const sharding::Casts& casts,
                           const TypeRecord* from,
                           const Planned& cause) {
  PlannedCasts result;
  for (const CastStep& step : casts) {
    const TypeRecord* to = &program.record(step.to);
    if (program.mesh().axes_size(step.axes) > 1) {
      const bool both = has_dual(from->type) && has_dual(step.to);
      result.steps.push_back({.step = step,
                              .back = both ? dual_step(step, from->type) : CastStep(),
                              .from = from,
                              .to = to,
                              .cotangent = both ? &program.record(dual(step.to)) : nullptr,
                              .cause = &cause});
    }
    from = to;
    result.to = to;
  }
  return result;
}

/// The same on all ranks: made of types and texts, no address.
TracedOp traced(const mesh::Mesh& mesh,
                const sharding::OpPlan& plan,
                std::span<const TypeRecord* const> operands,
                const Planned& planned) {
  std::vector<std::string> types;
  for (const TypeRecord* operand : operands) {
    types.push_back(operand->type.to_string(mesh));
  }
  TracedOp op;
  op.text = concat(planned.op, ' ', join(types), " -> ", plan.result().to_string(mesh));
  op.hash = random_stream(op.text, plan.reason);
  return op;
}

}  // namespace

void prepare(Program& program,
             const sharding::OpPlan& plan,
             std::span<const TypeRecord* const> operands,
             Planned& result) {
  BRIGADE_CHECK(plan.inputs.empty() || plan.inputs.size() == operands.size(),
                plan.reason,
                plan.inputs.size(),
                operands.size());
  result.reason = plan.reason;
  for (size_t index = 0; index < operands.size(); ++index) {
    result.inputs.push_back(
        plan.inputs.empty() ? PlannedCasts()
                            : prepare_casts(program, plan.inputs[index], operands[index], result));
  }
  result.local_result = &program.record(plan.local_result);
  result.output = prepare_casts(program, plan.output, result.local_result, result);
  result.traced = traced(program.mesh(), plan, operands, result);
}

CastStep dual_step(const CastStep& step, const TensorType& from) {
  CastStep back = step;
  back.to = dual(from);
  switch (step.kind) {
    case CastKind::kSlice: back.kind = CastKind::kGather; return back;
    case CastKind::kGather: back.kind = CastKind::kSlice; return back;
    case CastKind::kGatherReduced: back.kind = CastKind::kReduceScatter; return back;
    case CastKind::kSliceReduced: back.kind = CastKind::kPlace; return back;
    case CastKind::kMarkReduced: back.kind = CastKind::kAllReduce; return back;
    case CastKind::kReduceScatter: back.kind = CastKind::kGatherReduced; return back;
    case CastKind::kPlace: back.kind = CastKind::kSliceReduced; return back;
    case CastKind::kPermute: return back;  // to the spec before: the inverse
    case CastKind::kAllToAll: std::swap(back.dim, back.to_dim); return back;
    // U -> R back is R -> Rd, and R -> U back is Rd -> R: the bytes stay where they are.
    case CastKind::kAllReduce:
    case CastKind::kKeepFirst: back.kind = CastKind::kMarkReduced; return back;
  }
  BRIGADE_CHECK(false, to_string(step.kind));
}

}  // namespace brigade::tensor
