// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/embedding.h"

#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "parallel/sharding/embedding_plan.h"
#include "parallel/tensor/fused.h"
#include "parallel/tensor/held_entries.h"
#include "parallel/tensor/node.h"
#include "parallel/tensor/plan_key.h"
#include "parallel/tensor/program.h"
#include "parallel/tensor/run_op.h"

namespace brigade::tensor {
namespace {

class EmbeddingNode final : public OpNode {
 public:
  EmbeddingNode(at::Tensor ids, at::Tensor outside, int64_t rows)
      : ids_(std::move(ids)), outside_(std::move(outside)), rows_(rows) {}

  std::vector<at::Tensor> backward(const std::vector<at::Tensor>& gradients) override {
    // A token may come often: its row's sum is rounded once.
    at::Tensor gradient = widened(gradients[0]).reshape({ids_.numel(), gradients[0].size(-1)});
    if (outside_.defined()) {
      gradient = gradient.masked_fill(outside_.unsqueeze(-1), 0.0);
    }
    // In token order on one thread per row of the table: the same bits for any thread count.
    return {at::embedding_dense_backward(gradient, ids_, rows_, /*padding_idx=*/-1, false)
                .to(gradients[0].scalar_type())};
  }

  void release_variables() override {
    ids_.reset();
    outside_.reset();
  }

 private:
  at::Tensor ids_;      // [n], local rows
  at::Tensor outside_;  // [n], true where another rank holds the row; undefined if none does
  int64_t rows_;
};

at::Tensor look_up(const HeldEntries& held, const at::Tensor& table, const at::Tensor& tokens) {
  LocalIndices local;
  at::Tensor rows;
  {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    local = held.localize("embedding", tokens.reshape({tokens.numel()}));
    rows = at::index_select(held.with_an_entry(table, 0), 0, local.indices);
    if (local.outside.defined()) {
      rows.masked_fill_(local.outside.unsqueeze(-1), 0.0);
    }
    std::vector<int64_t> shape = tokens.sizes().vec();
    shape.push_back(table.size(1));
    rows = rows.view(shape);
  }
  if (needs_gradient({table})) {
    record(make_node<EmbeddingNode>(local.indices, local.outside, table.size(0)), {table}, rows);
  }
  return rows;
}

}  // namespace

ShardedTensor embedding(const ShardedTensor& table, const ShardedTensor& tokens) {
  Program& program = table.program();
  const Planned& planned = program.plan(PlanKey("embedding", tokens, table), [&] {
    return sharding::plan_embedding(program.mesh(), table.type(), tokens.type(), {});
  });
  const HeldEntries held(program, planned.inputs[1], table, 0);
  return run(
      planned,
      [&](const at::Tensor& ids, const at::Tensor& rows) { return look_up(held, rows, ids); },
      tokens,
      table);
}

}  // namespace brigade::tensor
