// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/silu_gate.h"

#include <array>
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

using torch::autograd::SavedVariable;

at::Tensor silu_gate_local(const at::Tensor& gate, const at::Tensor& up) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  if (!fusable({gate, up})) {
    return (at::silu(widened(gate)) * widened(up)).to(gate.scalar_type());
  }
  at::Tensor y = at::empty(gate.sizes(), gate.options());
  by_element(y, [&](auto element) {
    using T = decltype(element);
    const Rows<T> g(gate);
    const Rows<T> u(up);
    const Rows<T> out(y);
    parallel_rows(out.count(), out.width(), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        kernels::silu_gate_forward(g.at(row), u.at(row), out.at(row), 0, out.width());
      }
    });
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
      const at::Tensor wide = widened(gate);
      const at::Tensor wide_dy = widened(dy);
      return {at::silu_backward(wide_dy * widened(up), wide).to(gate.scalar_type()),
              (wide_dy * at::silu(wide)).to(up.scalar_type())};
    }
    at::Tensor dgate = empty_rows(gate.sizes(), gate.options());
    at::Tensor dup = empty_rows(up.sizes(), up.options());
    by_element(gate, [&](auto element) {
      using T = decltype(element);
      const Rows<T> g(gate);
      const Rows<T> u(up);
      const Rows<T> d(dy);
      const Rows<T> dg(dgate);
      const Rows<T> du(dup);
      parallel_rows(dg.count(), dg.width(), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          kernels::silu_gate_backward(
              g.at(row), u.at(row), d.at(row), dg.at(row), du.at(row), 0, dg.width());
        }
      });
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

Result<sharding::OpPlan> plan_silu_gate(const mesh::Mesh& mesh,
                                        const sharding::TensorType& gate,
                                        const sharding::TensorType& up) {
  if (gate.global != up.global) {
    return fail(ErrorCode::kType,
                concat("silu_gate needs operands of one shape: ",
                       gate.to_string(mesh),
                       " and ",
                       up.to_string(mesh)));
  }
  return sharding::plan_elementwise(
      mesh, "silu_gate", std::array<sharding::TensorType, 2>{gate, up}, sharding::Algebra::kOther);
}

}  // namespace

ShardedTensor silu_gate(const ShardedTensor& gate, const ShardedTensor& up) {
  Program& program = gate.program();
  const Planned& planned = program.plan(PlanKey("silu_gate", gate, up), [&] {
    return plan_silu_gate(program.mesh(), gate.type(), up.type());
  });
  return run(planned, silu_gated, gate, up);
}

}  // namespace brigade::tensor
