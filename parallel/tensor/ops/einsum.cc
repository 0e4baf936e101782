// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/einsum.h"

#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/saved_variable.h>

#include "parallel/base/text.h"
#include "parallel/tensor/buffers.h"
#include "parallel/tensor/kept_products.h"
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

/// `result`, computed without history, as the product of a and b.
at::Tensor recorded(const MatmulTable& table,
                    const EinsumRecipes& recipes,
                    const at::Tensor& a,
                    const at::Tensor& b,
                    at::Tensor result) {
  if (needs_gradient({a, b})) {
    record(make_node<EinsumNode>(table, recipes, a, b), {a, b}, result);
  }
  return result;
}

at::Tensor product(const MatmulTable& table,
                   const EinsumRecipes& recipes,
                   const at::Tensor& a,
                   const at::Tensor& b) {
  at::Tensor result;
  {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    result = recipes.forward(table, a, b);
  }
  return recorded(table, recipes, a, b, std::move(result));
}

at::Tensor sum_lone(const at::Tensor& operand, const std::vector<int64_t>& dims) {
  return dims.empty() ? operand : operand.sum(dims);
}

/// [..., m, k] by [k, n] or [..., k, n] as an equation.
std::string matmul_equation(const ShardedTensor& a, const ShardedTensor& b) {
  constexpr std::string_view kBatch = "abcdefghijlopqrstuvwxyz";
  const size_t rank_a = a.type().global.size();
  const size_t rank_b = b.type().global.size();
  if (rank_a < 2 || rank_b < 2 || (rank_b > 2 && rank_b != rank_a) || rank_a > kBatch.size()) {
    throw Exception({ErrorCode::kType,
                     concat("matmul: expected [..., m, k] and [k, n] or [..., k, n], found ",
                            a.type().to_string(),
                            " and ",
                            b.type().to_string()),
                     -1});
  }
  const std::string_view batch = kBatch.substr(0, rank_a - 2);
  return concat(batch, "mk,", rank_b > 2 ? batch : "", "kn->", batch, "mn");
}

/// The history of a product whose result is known.
ShardedTensor reuse(const Planned& planned,
                    const EinsumRecipes& recipes,
                    const ShardedTensor& a,
                    const ShardedTensor& b,
                    const at::Tensor& kept) {
  Program& program = a.program();
  const at::Tensor left = sum_lone(cast(a, planned.inputs[0]).local(), recipes.summed_a);
  const at::Tensor right = sum_lone(cast(b, planned.inputs[1]).local(), recipes.summed_b);
  const bool is_final = planned.output.steps.empty();
  const at::Tensor local = recorded(
      program.matmul(),
      recipes,
      left,
      right,
      is_final ? kept.detach()
               : shape_alone(local_shape(program, planned.local_result->type), kept.options()));
  const ShardedTensor result(program, planned.local_result, local);
  return is_final ? cast(result, planned.output) : recast(result, planned.output, kept);
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
  ProductScope* const scope = program.products();
  if (scope != nullptr && scope->mode() == ProductScope::Mode::kReuse) {
    return reuse(planned, recipes, a, b, scope->products().take());
  }
  const ShardedTensor result = run(
      planned,
      [&](const at::Tensor& left, const at::Tensor& right) {
        return product(program.matmul(),
                       recipes,
                       sum_lone(left, recipes.summed_a),
                       sum_lone(right, recipes.summed_b));
      },
      a,
      b);
  if (scope != nullptr) {
    scope->products().keep(result.local());
  }
  return result;
}

ShardedTensor matmul(const ShardedTensor& a,
                     const ShardedTensor& b,
                     std::optional<sharding::PartitionSpec> out) {
  return einsum(matmul_equation(a, b), a, b, out);
}

}  // namespace brigade::tensor
