// SPDX-License-Identifier: Apache-2.0
/// What ops without a file of their own consist of: a plan by algebra, and a local function.
///
///   ShardedTensor maximum(const ShardedTensor& a, const ShardedTensor& b) {
///     return apply("maximum", Algebra::kOther, at::maximum, a, b);
///   }
///
/// The name stands for the plan: two ops that plan differently need two names.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "parallel/sharding/elementwise_plan.h"
#include "parallel/tensor/plan_key.h"
#include "parallel/tensor/program.h"
#include "parallel/tensor/run_op.h"

namespace brigade::tensor {

template <class Local>
ShardedTensor apply(std::string_view op,
                    sharding::Algebra algebra,
                    const Local& local,
                    const ShardedTensor& x) {
  Program& program = x.program();
  return run(
      program.plan(PlanKey(op, x),
                   [&] { return sharding::plan_unary(program.mesh(), op, x.type(), algebra); }),
      local,
      x);
}

/// The same of floats alone.
template <class Local>
ShardedTensor apply_to_floats(std::string_view op,
                              sharding::Algebra algebra,
                              const Local& local,
                              const ShardedTensor& x) {
  Program& program = x.program();
  const Planned& planned = program.plan(PlanKey(op, x), [&]() -> Result<sharding::OpPlan> {
    if (Result<void> floats = sharding::expect_floats(program.mesh(), op, x.type()); !floats) {
      return fail(floats.error());
    }
    return sharding::plan_unary(program.mesh(), op, x.type(), algebra);
  });
  return run(planned, local, x);
}

template <class Local>
ShardedTensor apply(std::string_view op,
                    sharding::Algebra algebra,
                    const Local& local,
                    const ShardedTensor& a,
                    const ShardedTensor& b) {
  Program& program = a.program();
  const Planned& planned = program.plan(PlanKey(op, a, b), [&] {
    const std::array<sharding::TensorType, 2> types = {a.type(), b.type()};
    return sharding::plan_elementwise(program.mesh(), op, types, algebra);
  });
  return run(planned, local, a, b);
}

/// Any number of operands; `local` gets a vector of tensors.
template <class Local>
ShardedTensor apply(std::string_view op,
                    sharding::Algebra algebra,
                    const Local& local,
                    std::span<const ShardedTensor> operands) {
  Program& program = operands.front().program();
  const Planned& planned = program.plan(PlanKey(op, operands), [&] {
    std::vector<sharding::TensorType> types;
    for (const ShardedTensor& operand : operands) {
      types.push_back(operand.type());
    }
    return sharding::plan_elementwise(program.mesh(), op, types, algebra);
  });
  return run(planned, local, operands);
}

}  // namespace brigade::tensor
