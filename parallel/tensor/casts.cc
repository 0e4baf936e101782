// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/casts.h"

#include <string>
#include <utility>

#include <ATen/ATen.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/tensor/move.h"
#include "parallel/tensor/node.h"
#include "parallel/tensor/program.h"

namespace brigade::tensor {
namespace {

using sharding::CastKind;
using sharding::CastStep;
using sharding::TensorType;

/// The cast that carries the cotangent of a cast's result back to its operand.
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

class CastNode final : public OpNode {
 public:
  CastNode(Program& program, const TensorType& from, const CastStep& step, std::string_view reason)
      : program_(program), from_(dual(step.to)), back_(dual_step(step, from)), reason_(reason) {}

  std::vector<at::Tensor> backward(const std::vector<at::Tensor>& gradients) override {
    const ShardedTensor cotangent(program_, from_, gradients[0]);  // asserts the type it gets
    return {move(program_, from_, back_, cotangent.local(), Pass::kBackward, reason_)};
  }

 private:
  Program& program_;
  TensorType from_;
  CastStep back_;
  std::string reason_;
};

ShardedTensor apply(const ShardedTensor& tensor, const CastStep& step, std::string_view reason) {
  Program& program = tensor.program();
  if (program.mesh().axes_size(step.axes) == 1) {
    return ShardedTensor(program, step.to, tensor.local());
  }
  at::Tensor result;
  {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    result = move(program, tensor.type(), step, tensor.local(), Pass::kForward, reason);
    if (result.is_same(tensor.local())) {
      result = at::alias(result);  // a tensor of its own, for a history of its own
    }
  }
  if (needs_gradient({tensor.local()})) {
    record(make_node<CastNode>(program, tensor.type(), step, reason), {tensor.local()}, result);
  }
  return ShardedTensor(program, step.to, result);
}

}  // namespace

ShardedTensor cast(const ShardedTensor& tensor,
                   const sharding::Casts& steps,
                   std::string_view reason) {
  ShardedTensor result = tensor;
  for (const CastStep& step : steps) {
    result = apply(result, step, reason);
  }
  return result;
}

ShardedTensor reshard(const ShardedTensor& tensor,
                      const sharding::PartitionSpec& spec,
                      std::string_view reason) {
  if (tensor.type().spec == spec) {
    return tensor;
  }
  Program& program = tensor.program();
  const std::string key = concat("reshard ", tensor.type().to_string(), " ", spec.to_string());
  const sharding::OpPlan& plan = program.plan(key, [&]() -> Result<sharding::OpPlan> {
    Result<sharding::Casts> casts = sharding::plan_reshard(program.mesh(), tensor.type(), spec);
    if (!casts) {
      return fail(casts.error());
    }
    return sharding::OpPlan{{std::move(*casts)}, {}, {}, {}};
  });
  return cast(tensor, plan.inputs[0], reason);
}

}  // namespace brigade::tensor
