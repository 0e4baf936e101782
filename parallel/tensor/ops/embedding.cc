// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/embedding.h"

#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/saved_variable.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/sharding/named_sharding.h"
#include "parallel/tensor/casts.h"
#include "parallel/tensor/node.h"
#include "parallel/tensor/program.h"

namespace brigade::tensor {
namespace {

using sharding::AxisNames;
using sharding::AxisState;
using sharding::OpPlan;
using sharding::PartitionSpec;
using sharding::TensorType;

/// Tokens keep their axes; the table's feature axes follow; its vocabulary axes turn into an
/// unfinished sum. A table that is replicated where tokens vary must collect a gradient there, so
/// it passes through the Reduced cast.
Result<OpPlan> plan_embedding(const mesh::Mesh& mesh,
                              const TensorType& table,
                              const TensorType& tokens) {
  const AxisNames vocabulary = table.spec.dim(0);
  std::vector<PartitionSpec::Dim> dims;
  sharding::Shape shape = tokens.global;
  shape.push_back(table.global[1]);
  for (size_t dim = 0; dim < tokens.global.size(); ++dim) {
    dims.push_back(tokens.spec.dim(dim));
  }
  dims.push_back(table.spec.dim(1));
  AxisNames mark;
  for (const mesh::Axis& axis : mesh.axes()) {
    const AxisState of_tokens = tokens.spec.state(axis.name);
    const AxisState of_table = table.spec.state(axis.name);
    if (of_tokens == AxisState::kUnreduced || of_table == AxisState::kUnreduced ||
        (of_tokens == AxisState::kSharded && of_table == AxisState::kSharded)) {
      return fail(ErrorCode::kType,
                  concat("embedding cannot look up ",
                         tokens.to_string(mesh),
                         " in ",
                         table.to_string(mesh),
                         " over axis ",
                         axis.name,
                         "; reshard() one of them"));
    }
    if (of_tokens == AxisState::kSharded && of_table == AxisState::kReplicated) {
      mark.push_back(axis.name);
    }
  }
  OpPlan plan;
  plan.inputs.resize(2);
  if (!mark.empty()) {
    AxisNames reduced = table.spec.reduced();
    reduced.insert(reduced.end(), mark.begin(), mark.end());
    plan.inputs[0].push_back({sharding::CastKind::kMarkReduced,
                              mark,
                              -1,
                              -1,
                              {table.dtype, table.global, table.spec.with_reduced(reduced)}});
  }
  plan.local_result = {table.dtype, shape, PartitionSpec(dims).with_unreduced(vocabulary)};
  plan.reason = "embedding: vocabulary split over " +
                (vocabulary.empty() ? std::string("nothing") : join(vocabulary));
  return plan;
}

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

at::Tensor look_up(const at::Tensor& table,
                   const at::Tensor& tokens,
                   const LocalVocabulary& vocabulary) {
  at::Tensor ids = tokens.reshape({tokens.numel()});
  at::Tensor outside;
  at::Tensor rows;
  {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
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
  const std::string key =
      concat("embedding ", table.type().to_string(), " ", tokens.type().to_string());
  const OpPlan& plan = program.plan(
      key, [&] { return plan_embedding(program.mesh(), table.type(), tokens.type()); });
  const ShardedTensor rows = cast(table, plan.inputs[0], plan.reason);
  const sharding::Box box = sharding::NamedSharding{program.mesh(), table.type().spec}.box(
      table.type().global, program.rank());
  const LocalVocabulary vocabulary{box.dims[0], box.dims[0].size() == table.type().global[0]};
  return ShardedTensor(
      program, plan.local_result, look_up(rows.local(), tokens.local(), vocabulary));
}

}  // namespace brigade::tensor
