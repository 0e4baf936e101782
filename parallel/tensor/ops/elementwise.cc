// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/elementwise.h"

#include <array>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/saved_variable.h>

#include "parallel/base/text.h"
#include "parallel/kernels/silu_gate.h"
#include "parallel/sharding/elementwise_plan.h"
#include "parallel/tensor/fused.h"
#include "parallel/tensor/node.h"
#include "parallel/tensor/parallel_rows.h"
#include "parallel/tensor/plan_key.h"
#include "parallel/tensor/program.h"
#include "parallel/tensor/rows.h"
#include "parallel/tensor/run_op.h"

namespace brigade::tensor {
namespace {

using sharding::OpPlan;
using torch::autograd::SavedVariable;

const Planned& elementwise_plan(std::string_view op,
                                const ShardedTensor& a,
                                const ShardedTensor& b,
                                sharding::Algebra algebra,
                                bool broadcasts) {
  Program& program = a.program();
  return program.plan(PlanKey(op, a, b), [&]() -> Result<OpPlan> {
    if (!broadcasts && a.type().global != b.type().global) {
      return fail(ErrorCode::kType,
                  concat(op,
                         " needs operands of one shape: ",
                         a.type().to_string(),
                         " and ",
                         b.type().to_string()));
    }
    return sharding::plan_elementwise(
        program.mesh(), op, std::array<sharding::TensorType, 2>{a.type(), b.type()}, algebra);
  });
}

at::Tensor silu_gate_local(const at::Tensor& gate, const at::Tensor& up) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  if (!fusable({gate, up})) {
    return at::silu(gate) * up;
  }
  at::Tensor y = at::empty(gate.sizes(), gate.options());
  const Rows g(gate);
  const Rows u(up);
  const Rows out(y);
  parallel_rows(out.count(), out.width(), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      kernels::silu_gate_forward(g.at(row), u.at(row), out.at(row), 0, out.width());
    }
  });
  return y;
}

class SiluGateNode final : public OpNode {
 public:
  SiluGateNode(const at::Tensor& gate, const at::Tensor& up) : gate_(gate, false), up_(up, false) {}

  std::vector<at::Tensor> backward(const std::vector<at::Tensor>& gradients) override {
    const at::Tensor gate = gate_.unpack();
    const at::Tensor up = up_.unpack();
    const at::Tensor& dy = gradients[0];
    if (!fusable({gate, up, dy})) {
      return {at::silu_backward(dy * up, gate), dy * at::silu(gate)};
    }
    at::Tensor dgate = empty_rows(gate.sizes(), gate.options());
    at::Tensor dup = empty_rows(up.sizes(), up.options());
    const Rows g(gate);
    const Rows u(up);
    const Rows d(dy);
    const Rows dg(dgate);
    const Rows du(dup);
    parallel_rows(dg.count(), dg.width(), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        kernels::silu_gate_backward(
            g.at(row), u.at(row), d.at(row), dg.at(row), du.at(row), 0, dg.width());
      }
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

at::Tensor silu_gated(const at::Tensor& gate, const at::Tensor& up) {
  at::Tensor result = silu_gate_local(gate, up);
  if (needs_gradient({gate, up})) {
    record(make_node<SiluGateNode>(gate, up), {gate, up}, result);
  }
  return result;
}

}  // namespace

ShardedTensor add(const ShardedTensor& a, const ShardedTensor& b) {
  const Planned& planned =
      elementwise_plan("add", a, b, sharding::Algebra::kSum, /*broadcasts=*/true);
  return run(
      planned,
      [](const at::Tensor& left, const at::Tensor& right) { return at::add(left, right); },
      a,
      b);
}

ShardedTensor silu_gate(const ShardedTensor& gate, const ShardedTensor& up) {
  const Planned& planned =
      elementwise_plan("silu_gate", gate, up, sharding::Algebra::kOther, /*broadcasts=*/false);
  return run(planned, silu_gated, gate, up);
}

}  // namespace brigade::tensor
