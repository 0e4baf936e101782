// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/embedding.h"

#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/sharding/embedding_plan.h"
#include "parallel/sharding/named_sharding.h"
#include "parallel/tensor/node.h"
#include "parallel/tensor/plan_key.h"
#include "parallel/tensor/program.h"
#include "parallel/tensor/run_op.h"

namespace brigade::tensor {
namespace {

/// The rows of the vocabulary that this rank holds.
struct LocalVocabulary {
  sharding::Interval interval;
  bool whole;
};

class EmbeddingNode final : public OpNode {
 public:
  EmbeddingNode(at::Tensor ids, at::Tensor outside, int64_t rows)
      : ids_(std::move(ids)), outside_(std::move(outside)), rows_(rows) {}

  std::vector<at::Tensor> backward(const std::vector<at::Tensor>& gradients) override {
    at::Tensor gradient = gradients[0].reshape({ids_.numel(), gradients[0].size(-1)});
    if (outside_.defined()) {
      gradient = gradient.masked_fill(outside_.unsqueeze(-1), 0.0);
    }
    // In token order on one thread per row of the table: the same bits for any thread count.
    return {at::embedding_dense_backward(gradient, ids_, rows_, /*padding_idx=*/-1, false)};
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

/// An id without a row anywhere would pass for a row of zeros where the table is split.
void check_ids(const at::Tensor& ids, int64_t rows_in_all) {
  if (ids.numel() == 0) {
    return;
  }
  const auto [least, most] = at::aminmax(ids);
  if (least.item<int64_t>() < 0 || most.item<int64_t>() >= rows_in_all) {
    throw Exception({ErrorCode::kData,
                     concat("embedding: expected ids in [0, ",
                            rows_in_all,
                            "), found ids from ",
                            least.item<int64_t>(),
                            " to ",
                            most.item<int64_t>()),
                     -1});
  }
}

at::Tensor look_up(const at::Tensor& table,
                   const at::Tensor& tokens,
                   const LocalVocabulary& vocabulary,
                   int64_t rows_in_all) {
  at::Tensor ids = tokens.reshape({tokens.numel()});
  at::Tensor outside;
  at::Tensor rows;
  {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    check_ids(ids, rows_in_all);
    if (!vocabulary.whole) {
      outside = at::logical_or(ids < vocabulary.interval.begin, ids >= vocabulary.interval.end);
      ids = (ids - vocabulary.interval.begin).masked_fill(outside, 0);
    }
    if (vocabulary.interval.size() == 0) {
      rows = at::zeros({ids.numel(), table.size(1)}, table.options());
    } else {
      rows = at::index_select(table, 0, ids);
      if (outside.defined()) {
        rows.masked_fill_(outside.unsqueeze(-1), 0.0);
      }
    }
    std::vector<int64_t> shape = tokens.sizes().vec();
    shape.push_back(table.size(1));
    rows = rows.view(shape);
  }
  if (needs_gradient({table})) {
    record(make_node<EmbeddingNode>(ids, outside, table.size(0)), {table}, rows);
  }
  return rows;
}

}  // namespace

ShardedTensor embedding(const ShardedTensor& table, const ShardedTensor& tokens) {
  Program& program = table.program();
  const Planned& planned = program.plan(PlanKey("embedding", tokens, table), [&] {
    return sharding::plan_embedding(program.mesh(), table.type(), tokens.type(), {});
  });
  const sharding::TensorType& rows_type =
      planned.inputs[1].to != nullptr ? planned.inputs[1].to->type : table.type();
  const sharding::Interval held = sharding::NamedSharding{program.mesh(), rows_type.spec}
                                      .box(rows_type.global, program.rank())
                                      .dims[0];
  const int64_t rows_in_all = rows_type.global[0];
  return run(
      planned,
      [&](const at::Tensor& ids, const at::Tensor& rows) {
        return look_up(rows, ids, {held, held.size() == rows_in_all}, rows_in_all);
      },
      tokens,
      table);
}

}  // namespace brigade::tensor
