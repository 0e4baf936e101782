// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/along.h"

#include <string_view>
#include <tuple>

#include <ATen/ATen.h>

#include "parallel/sharding/along_plan.h"
#include "parallel/tensor/plan_key.h"
#include "parallel/tensor/program.h"
#include "parallel/tensor/run_op.h"

namespace brigade::tensor {
namespace {

/// How an op called `op` treats types: a sum of operands is that of results, integers come out.
struct Kind {
  std::string_view op;
  bool linear = false;
  bool gives_positions = false;
};

template <class Local>
ShardedTensor along(const Kind& kind, const ShardedTensor& x, int64_t dim, const Local& local) {
  Program& program = x.program();
  const Planned& planned = program.plan(PlanKey(kind.op, x, dim), [&] {
    return sharding::plan_along(program.mesh(),
                                kind.op,
                                x.type(),
                                dim,
                                kind.linear,
                                kind.gives_positions ? DType::kInt64 : x.type().dtype);
  });
  return run(planned, local, x);
}

std::tuple<at::Tensor, at::Tensor> sort_local(const at::Tensor& x, int64_t dim, Order order) {
  return at::sort(x, /*stable=*/true, dim, /*descending=*/order == Order::kDescending);
}

}  // namespace

ShardedTensor cumsum(const ShardedTensor& x, int64_t dim) {
  return along({.op = "cumsum", .linear = true}, x, dim, [&](const at::Tensor& local) {
    return at::cumsum(local, dim, local.scalar_type());
  });
}

ShardedTensor sort(const ShardedTensor& x, int64_t dim, Order order) {
  return along({.op = "sort"}, x, dim, [&](const at::Tensor& local) {
    return std::get<0>(sort_local(local, dim, order));
  });
}

ShardedTensor argsort(const ShardedTensor& x, int64_t dim, Order order) {
  return along({.op = "argsort", .gives_positions = true}, x, dim, [&](const at::Tensor& local) {
    return std::get<1>(sort_local(local.detach(), dim, order));
  });
}

ShardedTensor flip(const ShardedTensor& x, int64_t dim) {
  return along({.op = "flip", .linear = true}, x, dim, [&](const at::Tensor& local) {
    return at::flip(local, dim);
  });
}

ShardedTensor roll(const ShardedTensor& x, int64_t shift, int64_t dim) {
  return along({.op = "roll", .linear = true}, x, dim, [&](const at::Tensor& local) {
    return at::roll(local, shift, dim);
  });
}

ShardedTensor tile(const ShardedTensor& x, const std::vector<int64_t>& repeats) {
  Program& program = x.program();
  const Planned& planned = program.plan(PlanKey("tile", x, repeats), [&] {
    return sharding::plan_tile(program.mesh(), x.type(), repeats);
  });
  return run(
      planned, [&](const at::Tensor& local) { return local.repeat(repeats); }, x);
}

std::vector<ShardedTensor> unstack(const ShardedTensor& x, int64_t dim) {
  Program& program = x.program();
  const Planned& planned = program.plan(PlanKey("unstack", x, dim), [&] {
    return sharding::plan_unstack(program.mesh(), x.type(), dim);
  });
  std::vector<ShardedTensor> parts;
  for (const at::Tensor& local : at::unbind(x.local(), dim)) {
    parts.emplace_back(program, planned.local_result, local);
  }
  return parts;
}

}  // namespace brigade::tensor
