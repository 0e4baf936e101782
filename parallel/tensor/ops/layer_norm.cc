// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/layer_norm.h"

#include <array>
#include <span>
#include <vector>

#include <ATen/ATen.h>

#include "parallel/base/text.h"
#include "parallel/sharding/elementwise_plan.h"
#include "parallel/sharding/type_rule.h"
#include "parallel/tensor/fused.h"
#include "parallel/tensor/plan_key.h"
#include "parallel/tensor/program.h"
#include "parallel/tensor/run_op.h"

namespace brigade::tensor {
namespace {

using sharding::OpPlan;
using sharding::TensorType;

Result<OpPlan> plan_layer_norm(const mesh::Mesh& mesh, const std::vector<TensorType>& operands) {
  const TensorType& x = operands.front();
  if (Result<void> floats = sharding::expect_floats(mesh, "layer_norm", x); !floats) {
    return fail(floats.error());
  }
  if (x.global.empty()) {
    return fail(ErrorCode::kType, concat("layer_norm: ", x.to_string(mesh), " has no rows"));
  }
  for (size_t index = 1; index < operands.size(); ++index) {
    if (operands[index].global != sharding::Shape{x.global.back()}) {
      return fail(ErrorCode::kType,
                  concat("layer_norm: expected one element of weight and bias per element of a row "
                         "of x ",
                         x.to_string(mesh),
                         ", found ",
                         operands[index].to_string(mesh)));
    }
  }
  if (mesh.axes_size(x.spec.dim(x.global.size() - 1)) > 1) {
    return sharding::fail_type(
        sharding::rule::kShardedDim,
        concat("layer_norm needs every row whole, but the last dim is split; "
               "reshard() it first: ",
               x.to_string(mesh)));
  }
  return sharding::plan_elementwise(mesh, "layer_norm", operands, sharding::Algebra::kOther);
}

ShardedTensor norm(std::span<const ShardedTensor> operands, double eps) {
  Program& program = operands.front().program();
  const Planned& planned = program.plan(PlanKey("layer_norm", operands), [&] {
    std::vector<TensorType> types;
    for (const ShardedTensor& operand : operands) {
      types.push_back(operand.type());
    }
    return plan_layer_norm(program.mesh(), types);
  });
  return run(
      planned,
      [&](const std::vector<at::Tensor>& of) {
        // libtorch keeps its statistics in the weight's type.
        return at::layer_norm(of[0],
                              {of[0].size(-1)},
                              widened(of[1]),
                              of.size() > 2 ? widened(of[2]) : at::Tensor(),
                              eps,
                              /*cudnn_enable=*/false);
      },
      operands);
}

}  // namespace

ShardedTensor layer_norm(const ShardedTensor& x,
                         const ShardedTensor& weight,
                         const ShardedTensor& bias,
                         double eps) {
  return norm(std::array<ShardedTensor, 3>{x, weight, bias}, eps);
}

ShardedTensor layer_norm(const ShardedTensor& x, const ShardedTensor& weight, double eps) {
  return norm(std::array<ShardedTensor, 2>{x, weight}, eps);
}

}  // namespace brigade::tensor
