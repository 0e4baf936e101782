// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/reduce.h"

#include <ATen/ATen.h>

#include "parallel/sharding/elementwise_plan.h"
#include "parallel/sharding/reduce_plan.h"
#include "parallel/tensor/buffers.h"
#include "parallel/tensor/ops/dims.h"
#include "parallel/tensor/plan_key.h"
#include "parallel/tensor/program.h"
#include "parallel/tensor/run_op.h"

namespace brigade::tensor {
namespace {

using sharding::OpPlan;
using sharding::Reduction;

/// libtorch takes an empty list of dims for all of them.
at::Tensor local_sum(const at::Tensor& x, const Dims& dims, bool keep_dim, DType dtype) {
  return dims.empty() ? x : at::sum(x, dims, keep_dim, scalar_type_of(dtype));
}

int64_t elements(const ShardedTensor& x, const Dims& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) {
    count *= x.type().global[static_cast<size_t>(dim)];
  }
  return count;
}

}  // namespace

ShardedTensor sum(const ShardedTensor& x, at::IntArrayRef dims, bool keep_dim, const Out& out) {
  Program& program = x.program();
  const Dims gone = from_front(x, dims);
  const Planned& planned = program.plan(PlanKey("sum", x, gone, keep_dim, out), [&] {
    return sharding::plan_reduce(program.mesh(), Reduction::kSum, x.type(), gone, keep_dim, out);
  });
  const DType dtype = planned.local_result->type.dtype;
  return run(
      planned, [&](const at::Tensor& local) { return local_sum(local, gone, keep_dim, dtype); }, x);
}

ShardedTensor sum(const ShardedTensor& x) {
  return sum(x, all_dims(x));
}

ShardedTensor mean(const ShardedTensor& x, at::IntArrayRef dims, bool keep_dim, const Out& out) {
  Program& program = x.program();
  const Dims gone = from_front(x, dims);
  const Planned& planned =
      program.plan(PlanKey("mean", x, gone, keep_dim, out), [&]() -> Result<OpPlan> {
        if (Result<void> floats = sharding::expect_floats(program.mesh(), "mean", x.type());
            !floats) {
          return fail(floats.error());
        }
        return sharding::plan_reduce(
            program.mesh(), Reduction::kSum, x.type(), gone, keep_dim, out, "mean");
      });
  const auto count = static_cast<double>(elements(x, gone));
  return run(
      planned,
      [&](const at::Tensor& local) {
        return at::div(local_sum(local, gone, keep_dim, x.type().dtype), count);
      },
      x);
}

ShardedTensor mean(const ShardedTensor& x) {
  return mean(x, all_dims(x));
}

}  // namespace brigade::tensor
