// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/einsum.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/saved_variable.h>

#include "parallel/tensor/local_einsum.h"
#include "parallel/tensor/node.h"
#include "parallel/tensor/plan_key.h"
#include "parallel/tensor/program.h"
#include "parallel/tensor/run_op.h"

namespace brigade::tensor {
namespace {

using torch::autograd::SavedVariable;

/// The local product. Backward: each operand's gradient is a product of the other operand and the
/// result's, with the index lists changing places, so it is as local as the forward.
class EinsumNode final : public OpNode {
 public:
  EinsumNode(const MatmulTable& table,
             const EinsumRecipes& recipes,
             const at::Tensor& a,
             const at::Tensor& b)
      : table_(table), recipes_(recipes), a_(a, /*is_output=*/false), b_(b, /*is_output=*/false) {}

  std::vector<at::Tensor> backward(const std::vector<at::Tensor>& gradients) override {
    std::vector<at::Tensor> result(2);
    if (task_should_compute_output(0)) {
      result[0] = recipes_.gradient_a(table_, gradients[0], b_.unpack());
    }
    if (task_should_compute_output(1)) {
      result[1] = recipes_.gradient_b(table_, gradients[0], a_.unpack());
    }
    return result;
  }

  void release_variables() override {
    a_.reset_data();
    b_.reset_data();
  }

 private:
  const MatmulTable& table_;  // the program's, which outlives all nodes
  const EinsumRecipes& recipes_;
  SavedVariable a_;
  SavedVariable b_;
};

at::Tensor product(const MatmulTable& table,
                   const EinsumRecipes& recipes,
                   const at::Tensor& a,
                   const at::Tensor& b) {
  at::Tensor result;
  {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    result = recipes.forward(table, a, b);
  }
  if (needs_gradient({a, b})) {
    record(make_node<EinsumNode>(table, recipes, a, b), {a, b}, result);
  }
  return result;
}

}  // namespace

ShardedTensor einsum(std::string_view equation,
                     const ShardedTensor& a,
                     const ShardedTensor& b,
                     std::optional<sharding::PartitionSpec> out) {
  Program& program = a.program();
  const Planned& planned = program.plan(PlanKey("einsum", a, b, equation, out), [&] {
    return sharding::plan_einsum(program.mesh(), equation, a.type(), b.type(), out);
  });
  const EinsumRecipes& recipes = einsum_recipes(equation);
  return run(
      planned,
      [&](const at::Tensor& left, const at::Tensor& right) {
        return product(program.matmul(), recipes, left, right);
      },
      a,
      b);
}

}  // namespace brigade::tensor
