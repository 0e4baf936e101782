// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/cross_entropy.h"

#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/saved_variable.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/kernels/cross_entropy.h"
#include "parallel/sharding/named_sharding.h"
#include "parallel/tensor/buffers.h"
#include "parallel/tensor/fused.h"
#include "parallel/tensor/node.h"
#include "parallel/tensor/parallel_rows.h"
#include "parallel/tensor/plan_key.h"
#include "parallel/tensor/program.h"

namespace brigade::tensor {
namespace {

using collective::ReduceOp;
using sharding::AxisNames;
using sharding::OpPlan;
using sharding::PartitionSpec;
using sharding::TensorType;
using torch::autograd::SavedVariable;

/// Losses keep the axes of the rows; the vocabulary's are resolved inside by two reductions.
Result<OpPlan> plan_cross_entropy(const mesh::Mesh& mesh,
                                  const TensorType& logits,
                                  const TensorType& targets) {
  std::vector<PartitionSpec::Dim> dims;
  sharding::Shape shape = logits.global;
  shape.pop_back();
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    dims.push_back(logits.spec.dim(dim));
  }
  const PartitionSpec rows(dims);
  if (targets.global != shape || targets.spec != rows || !logits.spec.unreduced().empty()) {
    return fail(ErrorCode::kType,
                concat("cross_entropy needs targets placed as the rows of the logits; reshard() "
                       "one of them: logits ",
                       logits.to_string(mesh),
                       ", targets ",
                       targets.to_string(mesh)));
  }
  OpPlan plan;
  plan.local_result = {DType::kFloat32, shape, rows};
  plan.reason = "cross_entropy: vocabulary sharded";
  return plan;
}

/// Joins [n] floats over the ranks of the vocabulary's axes.
void join_ranks(Program& program, const AxisNames& axes, at::Tensor& values, ReduceOp op) {
  const int64_t members = program.mesh().axes_size(axes);
  if (members == 1) {
    return;
  }
  program.ledger().write(
      {sharding::CastKind::kAllReduce,
       axes,
       cast_bytes(sharding::CastKind::kAllReduce, members, static_cast<int64_t>(values.nbytes())),
       Pass::kForward,
       op == ReduceOp::kMax ? "cross_entropy: largest logit" : "cross_entropy: sum and target",
       "cross_entropy",
       op == ReduceOp::kMax ? sharding::Reduction::kMax : sharding::Reduction::kSum});
  collective::Work work = program.group(axes).all_reduce({bytes_of(values)}, DType::kFloat32, op);
  value_or_throw(work.wait());
}

/// What forward computes per row and backward needs again.
struct RowFacts {
  at::Tensor max;         // [n]
  at::Tensor sum_picked;  // [2, n]: sum of exp(x - max), logit of the target
};

template <kernels::Element T>
RowFacts row_facts(Program& program,
                   const AxisNames& axes,
                   const kernels::LocalLogits<T>& logits,
                   const at::Tensor& targets) {
  const int64_t rows = targets.numel();
  const at::TensorOptions options = targets.options().dtype(at::kFloat);
  RowFacts facts{at::empty({rows}, options), at::empty({2, rows}, options)};
  float* max = facts.max.mutable_data_ptr<float>();
  parallel_rows(rows, logits.local, [&](int64_t begin, int64_t end) {
    kernels::row_max(logits, begin, end, max);
  });
  join_ranks(program, axes, facts.max, ReduceOp::kMax);
  float* sum = facts.sum_picked.mutable_data_ptr<float>();
  float* picked = sum + rows;
  parallel_rows(rows, logits.local, [&](int64_t begin, int64_t end) {
    kernels::row_sum_exp(logits, max, begin, end, sum);
    kernels::pick_targets(logits, targets.const_data_ptr<int64_t>(), begin, end, picked);
  });
  join_ranks(program, axes, facts.sum_picked, ReduceOp::kSum);
  return facts;
}

/// A target that is no class would pass for one with a logit of 0.
void check_targets(const at::Tensor& targets, int64_t classes) {
  if (targets.numel() == 0) {
    return;
  }
  const auto [least, most] = at::aminmax(targets);
  if (least.item<int64_t>() < kernels::kNotTrained || most.item<int64_t>() >= classes) {
    throw Exception({ErrorCode::kData,
                     concat("cross_entropy: expected targets in [0, ",
                            classes,
                            "), or -1 for one that is not trained; found targets from ",
                            least.item<int64_t>(),
                            " to ",
                            most.item<int64_t>()),
                     -1});
  }
}

class CrossEntropyNode final : public OpNode {
 public:
  CrossEntropyNode(const at::Tensor& logits, at::Tensor targets, RowFacts facts, int64_t first)
      : logits_(logits, false),
        targets_(std::move(targets)),
        facts_(std::move(facts)),
        first_(first) {}

  std::vector<at::Tensor> backward(const std::vector<at::Tensor>& gradients) override {
    const at::Tensor logits = logits_.unpack();
    const at::Tensor scale = gradients[0].contiguous();
    at::Tensor result = at::empty_like(logits);
    const int64_t local = logits.size(-1);
    by_element(logits, [&](auto element) {
      using T = decltype(element);
      const kernels::LocalLogits<T> held = {elements<T>(logits), local, first_};
      parallel_rows(targets_.numel(), local, [&](int64_t begin, int64_t end) {
        kernels::cross_entropy_gradient(held,
                                        facts_.max.const_data_ptr<float>(),
                                        facts_.sum_picked.const_data_ptr<float>(),
                                        targets_.const_data_ptr<int64_t>(),
                                        scale.const_data_ptr<float>(),
                                        begin,
                                        end,
                                        mutable_elements<T>(result));
      });
    });
    return {result};
  }

  void release_variables() override {
    logits_.reset_data();
    facts_ = {};
  }

 private:
  SavedVariable logits_;
  at::Tensor targets_;
  RowFacts facts_;
  int64_t first_;
};

}  // namespace

ShardedTensor cross_entropy(const ShardedTensor& logits, const ShardedTensor& targets) {
  Program& program = logits.program();
  const Planned& planned = program.plan(PlanKey("cross_entropy", logits, targets), [&] {
    return plan_cross_entropy(program.mesh(), logits.type(), targets.type());
  });
  const size_t vocabulary_dim = logits.type().global.size() - 1;
  const AxisNames& axes = logits.type().spec.dim(vocabulary_dim);
  const int64_t first = sharding::NamedSharding{program.mesh(), logits.type().spec}
                            .box(logits.type().global, program.rank())
                            .dims[vocabulary_dim]
                            .begin;
  const at::Tensor scores =
      (fusable({logits.local()}) ? logits.local() : logits.local().to(at::kFloat)).contiguous();
  const at::Tensor ids = targets.local().contiguous();
  check_targets(ids, logits.type().global[vocabulary_dim]);
  at::Tensor losses;
  RowFacts facts;
  {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    by_element(scores, [&](auto element) {
      using T = decltype(element);
      const kernels::LocalLogits<T> held = {elements<T>(scores), scores.size(-1), first};
      facts = row_facts(program, axes, held, ids);
    });
    losses = (facts.sum_picked[0].log() + facts.max - facts.sum_picked[1])
                 .masked_fill_(ids.reshape({-1}) == kernels::kNotTrained, 0.0)
                 .view(ids.sizes());
  }
  if (needs_gradient({scores})) {
    record(make_node<CrossEntropyNode>(scores, ids, facts, first), {scores}, losses);
  }
  return ShardedTensor(program, planned.local_result, losses);
}

}  // namespace brigade::tensor
