// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/take.h"

#include <ATen/ATen.h>

#include "parallel/sharding/lookup_plan.h"
#include "parallel/tensor/fused.h"
#include "parallel/tensor/held_entries.h"
#include "parallel/tensor/plan_key.h"
#include "parallel/tensor/program.h"
#include "parallel/tensor/run_op.h"

namespace brigade::tensor {
namespace {

/// Where the indices' dims stand in the result.
at::Tensor as_result(const at::Tensor& rows, const at::Tensor& indices, int64_t dim) {
  std::vector<int64_t> sizes = rows.sizes().vec();
  sizes.erase(sizes.begin() + dim);
  sizes.insert(sizes.begin() + dim, indices.sizes().begin(), indices.sizes().end());
  return rows.reshape(sizes);
}

at::Tensor take_local(const HeldEntries& held,
                      const at::Tensor& table,
                      const at::Tensor& indices,
                      int64_t dim) {
  const LocalIndices local = held.localize("take", indices.reshape({-1}));
  // Widened, so that the gradient of an entry that is taken often is summed in float.
  at::Tensor rows = at::index_select(widened(held.with_an_entry(table, dim)), dim, local.indices);
  if (local.outside.defined()) {
    std::vector<int64_t> along(static_cast<size_t>(rows.dim()), 1);
    along[static_cast<size_t>(dim)] = rows.size(dim);
    rows = rows.masked_fill(local.outside.view(along), 0);
  }
  return as_result(rows, indices, dim).to(table.scalar_type());
}

at::Tensor take_along_local(const HeldEntries& held,
                            const at::Tensor& table,
                            const at::Tensor& indices,
                            int64_t dim) {
  const LocalIndices local = held.localize("take_along", indices.to(at::kLong));
  const at::Tensor picked = at::gather(widened(held.with_an_entry(table, dim)), dim, local.indices);
  return (local.outside.defined() ? picked.masked_fill(local.outside, 0) : picked)
      .to(table.scalar_type());
}

}  // namespace

ShardedTensor take(const ShardedTensor& x,
                   const ShardedTensor& indices,
                   int64_t dim,
                   const std::optional<sharding::PartitionSpec>& out) {
  Program& program = x.program();
  const Planned& planned = program.plan(PlanKey("take", indices, x, dim, out), [&] {
    return sharding::plan_take(program.mesh(), x.type(), indices.type(), dim, out);
  });
  const HeldEntries held(program, planned.inputs[1], x, dim);
  return run(
      planned,
      [&](const at::Tensor& local_indices, const at::Tensor& table) {
        return take_local(held, table, local_indices, dim);
      },
      indices,
      x);
}

ShardedTensor take_along(const ShardedTensor& x,
                         const ShardedTensor& indices,
                         int64_t dim,
                         const std::optional<sharding::PartitionSpec>& out) {
  Program& program = x.program();
  const Planned& planned = program.plan(PlanKey("take_along", indices, x, dim, out), [&] {
    return sharding::plan_take_along(program.mesh(), x.type(), indices.type(), dim, out);
  });
  const HeldEntries held(program, planned.inputs[1], x, dim);
  return run(
      planned,
      [&](const at::Tensor& local_indices, const at::Tensor& table) {
        return take_along_local(held, table, local_indices, dim);
      },
      indices,
      x);
}

}  // namespace brigade::tensor
