// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/einsum.h"

#include <string>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/saved_variable.h>

#include "parallel/base/text.h"
#include "parallel/tensor/casts.h"
#include "parallel/tensor/local_einsum.h"
#include "parallel/tensor/node.h"
#include "parallel/tensor/program.h"

namespace brigade::tensor {
namespace {

using sharding::OpPlan;
using torch::autograd::SavedVariable;

/// The local product. Backward: each operand's gradient is a product of the other operand and the
/// result's, with the index lists changing places, so it is as local as the forward.
class EinsumNode final : public OpNode {
 public:
  EinsumNode(Program& program, std::string_view equation, const at::Tensor& a, const at::Tensor& b)
      : program_(program),
        equation_(equation),
        a_(a, /*is_output=*/false),
        b_(b, /*is_output=*/false) {}

  std::vector<at::Tensor> backward(const std::vector<at::Tensor>& gradients) override {
    const Equation forward = split_equation(equation_);
    const MatmulTable& table = program_.matmul();
    std::vector<at::Tensor> result(2);
    if (task_should_compute_output(0)) {
      result[0] =
          local_einsum(table, {forward.out, forward.b, forward.a}, gradients[0], b_.unpack());
    }
    if (task_should_compute_output(1)) {
      result[1] =
          local_einsum(table, {forward.out, forward.a, forward.b}, gradients[0], a_.unpack());
    }
    return result;
  }

  void release_variables() override {
    a_.reset_data();
    b_.reset_data();
  }

 private:
  Program& program_;
  std::string equation_;
  SavedVariable a_;
  SavedVariable b_;
};

at::Tensor product(Program& program,
                   std::string_view equation,
                   const at::Tensor& a,
                   const at::Tensor& b) {
  at::Tensor result;
  {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    result = local_einsum(program.matmul(), split_equation(equation), a, b);
  }
  if (needs_gradient({a, b})) {
    record(make_node<EinsumNode>(program, equation, a, b), {a, b}, result);
  }
  return result;
}

}  // namespace

ShardedTensor einsum(std::string_view equation,
                     const ShardedTensor& a,
                     const ShardedTensor& b,
                     std::optional<sharding::PartitionSpec> out) {
  Program& program = a.program();
  const std::string key = concat("einsum ",
                                 equation,
                                 " ",
                                 a.type().to_string(),
                                 " ",
                                 b.type().to_string(),
                                 " ",
                                 out ? out->to_string() : std::string());
  const OpPlan& plan = program.plan(key, [&] {
    return sharding::plan_einsum(program.mesh(), equation, a.type(), b.type(), out);
  });
  const ShardedTensor left = cast(a, plan.inputs[0], plan.reason);
  const ShardedTensor right = cast(b, plan.inputs[1], plan.reason);
  const ShardedTensor local(
      program, plan.local_result, product(program, equation, left.local(), right.local()));
  return cast(local, plan.output, plan.reason);
}

}  // namespace brigade::tensor
