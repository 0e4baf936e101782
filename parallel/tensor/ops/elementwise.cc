// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/elementwise.h"

#include <array>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/saved_variable.h>

#include "parallel/base/text.h"
#include "parallel/kernels/silu_gate.h"
#include "parallel/tensor/casts.h"
#include "parallel/tensor/fused.h"
#include "parallel/tensor/node.h"
#include "parallel/tensor/parallel_rows.h"
#include "parallel/tensor/program.h"

namespace brigade::tensor {
namespace {

using sharding::OpPlan;
using torch::autograd::SavedVariable;

const OpPlan& elementwise_plan(std::string_view op,
                               const ShardedTensor& a,
                               const ShardedTensor& b,
                               bool linear,
                               bool broadcasts) {
  Program& program = a.program();
  const std::string key = concat(op, " ", a.type().to_string(), " ", b.type().to_string());
  return program.plan(key, [&]() -> Result<OpPlan> {
    if (!broadcasts && a.type().global != b.type().global) {
      return fail(ErrorCode::kType,
                  concat(op,
                         " needs operands of one shape: ",
                         a.type().to_string(),
                         " and ",
                         b.type().to_string()));
    }
    return sharding::plan_elementwise(
        program.mesh(), op, std::array<sharding::TensorType, 2>{a.type(), b.type()}, linear);
  });
}

at::Tensor silu_gate_local(const at::Tensor& gate, const at::Tensor& up) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  if (!fusable({gate, up})) {
    return at::silu(gate) * up;
  }
  const at::Tensor g = gate.contiguous();
  const at::Tensor u = up.contiguous();
  at::Tensor y = at::empty_like(g);
  parallel_rows(y.numel(), 1, [&](int64_t begin, int64_t end) {
    kernels::silu_gate_forward(g.const_data_ptr<float>(),
                               u.const_data_ptr<float>(),
                               y.mutable_data_ptr<float>(),
                               begin,
                               end);
  });
  return y;
}

class SiluGateNode final : public OpNode {
 public:
  SiluGateNode(const at::Tensor& gate, const at::Tensor& up) : gate_(gate, false), up_(up, false) {}

  std::vector<at::Tensor> backward(const std::vector<at::Tensor>& gradients) override {
    const at::Tensor gate = gate_.unpack().contiguous();
    const at::Tensor up = up_.unpack().contiguous();
    const at::Tensor dy = gradients[0].contiguous();
    if (!fusable({gate, up, dy})) {
      return {at::silu_backward(dy * up, gate), dy * at::silu(gate)};
    }
    at::Tensor dgate = at::empty_like(gate);
    at::Tensor dup = at::empty_like(up);
    parallel_rows(gate.numel(), 1, [&](int64_t begin, int64_t end) {
      kernels::silu_gate_backward(gate.const_data_ptr<float>(),
                                  up.const_data_ptr<float>(),
                                  dy.const_data_ptr<float>(),
                                  dgate.mutable_data_ptr<float>(),
                                  dup.mutable_data_ptr<float>(),
                                  begin,
                                  end);
    });
    return {dgate, dup};
  }

  void release_variables() override {
    gate_.reset_data();
    up_.reset_data();
  }

 private:
  SavedVariable gate_;
  SavedVariable up_;
};

}  // namespace

ShardedTensor add(const ShardedTensor& a, const ShardedTensor& b) {
  const OpPlan& plan = elementwise_plan("add", a, b, /*linear=*/true, /*broadcasts=*/true);
  const ShardedTensor left = cast(a, plan.inputs[0], plan.reason);
  const ShardedTensor right = cast(b, plan.inputs[1], plan.reason);
  return cast(ShardedTensor(a.program(), plan.local_result, left.local() + right.local()),
              plan.output,
              plan.reason);
}

ShardedTensor silu_gate(const ShardedTensor& gate, const ShardedTensor& up) {
  const OpPlan& plan =
      elementwise_plan("silu_gate", gate, up, /*linear=*/false, /*broadcasts=*/false);
  const ShardedTensor left = cast(gate, plan.inputs[0], plan.reason);
  const ShardedTensor right = cast(up, plan.inputs[1], plan.reason);
  at::Tensor result = silu_gate_local(left.local(), right.local());
  if (needs_gradient({left.local(), right.local()})) {
    record(make_node<SiluGateNode>(left.local(), right.local()),
           {left.local(), right.local()},
           result);
  }
  return cast(ShardedTensor(gate.program(), plan.local_result, result), plan.output, plan.reason);
}

}  // namespace brigade::tensor
