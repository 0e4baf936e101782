// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/softmax.h"

#include <string_view>

#include <ATen/ATen.h>

#include "parallel/sharding/elementwise_plan.h"
#include "parallel/sharding/reduce_plan.h"
#include "parallel/tensor/fused.h"
#include "parallel/tensor/ops/dims.h"
#include "parallel/tensor/ops/elementwise.h"
#include "parallel/tensor/ops/extremes.h"
#include "parallel/tensor/ops/reduce.h"
#include "parallel/tensor/ops/unary.h"
#include "parallel/tensor/plan_key.h"
#include "parallel/tensor/program.h"
#include "parallel/tensor/run_op.h"

namespace brigade::tensor {
namespace {

using sharding::OpPlan;

/// What an op that keeps x's type does; checks the dim too.
const Planned& plan_rows(std::string_view op, const ShardedTensor& x, int64_t dim) {
  Program& program = x.program();
  return program.plan(PlanKey(op, x, dim), [&]() -> Result<OpPlan> {
    if (Result<void> floats = sharding::expect_floats(program.mesh(), op, x.type()); !floats) {
      return fail(floats.error());
    }
    // A sum over the dim names one that is not there.
    Result<OpPlan> rows = sharding::plan_reduce(
        program.mesh(), sharding::Reduction::kMax, x.type(), {&dim, 1}, true, std::nullopt, op);
    return rows ? sharding::plan_unary(program.mesh(), op, x.type(), sharding::Algebra::kOther)
                : rows;
  });
}

bool splits(const ShardedTensor& x, int64_t dim) {
  return x.program().mesh().axes_size(x.type().spec.dim(static_cast<size_t>(dim))) > 1;
}

/// x less the largest element of its row, which no gradient goes through: any constant would do.
ShardedTensor shifted(const ShardedTensor& x, int64_t dim) {
  return sub(x, amax(stop_gradient(x), {dim}, /*keep_dim=*/true));
}

/// body(x), of bf16 in fp32: what is composed rounds its intermediate results too.
template <class Body>
ShardedTensor in_float(const ShardedTensor& x, const Body& body) {
  return x.type().dtype == DType::kBFloat16 ? to(body(to(x, DType::kFloat32)), DType::kBFloat16)
                                            : body(x);
}

ShardedTensor split_softmax(const ShardedTensor& x, int64_t dim) {
  const ShardedTensor weights = exp(shifted(x, dim));
  return div(weights, sum(weights, {dim}, /*keep_dim=*/true));
}

ShardedTensor split_log_softmax(const ShardedTensor& x, int64_t dim) {
  const ShardedTensor scores = shifted(x, dim);
  return sub(scores, log(sum(exp(scores), {dim}, /*keep_dim=*/true)));
}

/// An infinite row keeps its infinity: nothing is subtracted from it.
ShardedTensor split_logsumexp(const ShardedTensor& x, int64_t dim, bool keep_dim) {
  Program& program = x.program();
  const ShardedTensor largest = amax(stop_gradient(x), {dim}, /*keep_dim=*/true);
  const ShardedTensor shift(
      program,
      &largest.record(),
      at::where(
          at::isinf(largest.local()), at::zeros({}, largest.local().options()), largest.local()));
  const ShardedTensor total = sum(exp(sub(x, shift)), {dim}, keep_dim);
  const ShardedTensor back(program, &total.record(), shift.local().reshape(total.local().sizes()));
  return add(log(total), back);
}

}  // namespace

ShardedTensor softmax(const ShardedTensor& x, int64_t dim) {
  const int64_t along = from_front(x, dim);
  const Planned& planned = plan_rows("softmax", x, along);
  if (!splits(x, along)) {
    return run(
        planned, [&](const at::Tensor& local) { return at::softmax(local, along); }, x);
  }
  return in_float(x, [&](const ShardedTensor& wide) { return split_softmax(wide, along); });
}

ShardedTensor log_softmax(const ShardedTensor& x, int64_t dim) {
  const int64_t along = from_front(x, dim);
  const Planned& planned = plan_rows("log_softmax", x, along);
  if (!splits(x, along)) {
    return run(
        planned, [&](const at::Tensor& local) { return at::log_softmax(local, along); }, x);
  }
  return in_float(x, [&](const ShardedTensor& wide) { return split_log_softmax(wide, along); });
}

ShardedTensor logsumexp(const ShardedTensor& x, int64_t dim, bool keep_dim) {
  Program& program = x.program();
  const int64_t along = from_front(x, dim);
  const Planned& planned =
      program.plan(PlanKey("logsumexp", x, along, keep_dim), [&]() -> Result<OpPlan> {
        if (Result<void> floats = sharding::expect_floats(program.mesh(), "logsumexp", x.type());
            !floats) {
          return fail(floats.error());
        }
        return sharding::plan_reduce(program.mesh(),
                                     sharding::Reduction::kMax,
                                     x.type(),
                                     {&along, 1},
                                     keep_dim,
                                     std::nullopt,
                                     "logsumexp");
      });
  if (!splits(x, along)) {
    return run(
        planned,
        [&](const at::Tensor& local) {
          return at::logsumexp(widened(local), along, keep_dim).to(local.scalar_type());
        },
        x);
  }
  return in_float(
      x, [&](const ShardedTensor& wide) { return split_logsumexp(wide, along, keep_dim); });
}

}  // namespace brigade::tensor
