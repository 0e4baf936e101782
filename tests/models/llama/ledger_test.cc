// SPDX-License-Identifier: Apache-2.0
/// Which collectives one forward and backward of the decoder cost, counted by axes, pass and cast.
#include <atomic>
#include <map>
#include <string>
#include <tuple>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "models/decoder/placement_rules.h"
#include "models/llama/facts.h"
#include "models/llama/stage.h"
#include "parallel/base/text.h"
#include "parallel/tensor/program.h"
#include "tests/support/rank_threads.h"
#include "tests/support/run_stage.h"

namespace brigade::llama {
namespace {

using sharding::CastKind;
using tensor::LedgerEntry;
using tensor::Pass;

constexpr int64_t kBatch = 2;  // of one data rank
constexpr int64_t kSequence = 8;
constexpr int64_t kFloat = 4;

struct Degrees {
  int64_t shard = 1;
  int64_t tp = 1;
  int64_t layers = 1;
  int zero = 1;
  bool sequence_parallel = false;
};

Config model(int64_t layers) {
  return {.dim = 32,
          .n_layers = layers,
          .n_heads = 4,
          .n_kv_heads = 2,
          .ffn_dim = 48,
          .vocab_size = 56};
}

at::Tensor ids(int64_t phase) {
  return at::remainder(at::arange(kBatch * kSequence, at::kLong) * 13 + phase, 56)
      .view({kBatch, kSequence});
}

/// The whole model as one stage; entries of a step's parts, on rank 0 or where `body` looks.
class Model {
 public:
  Model(tensor::Program& program, const Degrees& degrees)
      : program_(program),
        parameters_(
            value_or_throw(zero::ParameterSet::create(program,
                                                      stage_facts(model(degrees.layers), 0, 1),
                                                      {.stage = degrees.zero,
                                                       .rules = decoder::tensor_parallel_rules(),
                                                       .parts = parts_of(degrees),
                                                       .data = {{"dp_replicate"}, {"dp_shard"}}}))),
        stage_(model(degrees.layers),
               {.sequence = kSequence,
                .batch_axes = {"dp_replicate", "dp_shard"},
                .sequence_parallel = degrees.sequence_parallel},
               program,
               *parameters_) {
    parameters_->initialize(5);
  }

  std::vector<LedgerEntry> forward_and_backward() {
    program_.ledger().clear();
    const tensor::ShardedTensor losses = testing::run_stage(stage_, {ids(3), ids(16)}, {});
    torch::autograd::backward({losses.local().sum()}, {});
    return program_.ledger().entries();
  }

  std::vector<LedgerEntry> reduce_and_gather() {
    program_.ledger().clear();
    parameters_->accumulate(0, 1);
    value_or_throw(parameters_->reduce());
    value_or_throw(parameters_->gather());
    return program_.ledger().entries();
  }

 private:
  static zero::AxisRules parts_of(const Degrees& degrees) {
    return degrees.sequence_parallel ? decoder::sequence_parallel_rules() : zero::AxisRules();
  }

  tensor::Program& program_;
  std::unique_ptr<zero::ParameterSet> parameters_;
  LlamaStage stage_;
};

void on_mesh(const Degrees& degrees, const std::function<void(tensor::Program&, Model&)>& body) {
  const mesh::Mesh mesh = value_or_throw(
      mesh::Mesh::create({{"dp_replicate", 1}, {"dp_shard", degrees.shard}, {"tp", degrees.tp}}));
  testing::run_ranks(mesh.size(), [&](collective::World& world) {
    at::set_num_threads(1);
    tensor::Program program(mesh, world.rank(), [&](const auto& members, const std::string& name) {
      return world.group(members, name);
    });
    Model model(program, degrees);
    body(program, model);
  });
}

/// "forward all_reduce tp" -> how many.
using Counts = std::map<std::tuple<Pass, CastKind, std::string>, int64_t>;

Counts count(const std::vector<LedgerEntry>& entries) {
  Counts counts;
  for (const LedgerEntry& entry : entries) {
    ++counts[{entry.pass, entry.cast, join(entry.axes)}];
  }
  return counts;
}

int64_t bytes(const std::vector<LedgerEntry>& entries) {
  int64_t sum = 0;
  for (const LedgerEntry& entry : entries) {
    sum += entry.group_bytes;
  }
  return sum;
}

TEST(LlamaLedger, HasTwoAllReducesPerLayerAndPass) {
  for (const int64_t layers : {1, 3}) {
    on_mesh({.shard = 2, .tp = 2, .layers = layers}, [&](tensor::Program&, Model& model) {
      // Beside the layers: the embedding, two of the loss; the logits in the backward. Over data
      // axes nothing moves before the step's end.
      const Counts wanted = {{{Pass::kForward, CastKind::kAllReduce, "tp"}, 2 * layers + 3},
                             {{Pass::kBackward, CastKind::kAllReduce, "tp"}, 2 * layers + 1}};
      EXPECT_EQ(count(model.forward_and_backward()), wanted);
    });
  }
}

TEST(LlamaLedger, HasTheBytesOfActivationsAndOfThreeNumbersPerToken) {
  const int64_t layers = 2;
  on_mesh({.tp = 2, .layers = layers}, [&](tensor::Program&, Model& model) {
    const int64_t tokens = kBatch * kSequence;
    const int64_t activation = 2 * tokens * 32 * kFloat;  // a sum over two ranks moves it twice
    const int64_t loss = 2 * tokens * 3 * kFloat;         // the maximum; sum and target's logit
    EXPECT_EQ(bytes(model.forward_and_backward()), (4 * layers + 2) * activation + loss);
  });
}

TEST(LlamaLedger, SequenceParallelHasAGatherAndAScatterForEachAllReduce) {
  for (const int64_t layers : {1, 3}) {
    on_mesh({.shard = 2, .tp = 2, .layers = layers, .sequence_parallel = true},
            [&](tensor::Program&, Model& model) {
              // Forward: each half block is entered by a gather and left by a scatter; the
              // embedding is left, the head is entered. The backward is the same the other way
              // round.
              const int64_t halves = 2 * layers;
              const Counts wanted = {
                  {{Pass::kForward, CastKind::kGatherReduced, "tp"}, halves + 1},
                  {{Pass::kForward, CastKind::kReduceScatter, "tp"}, halves + 1},
                  {{Pass::kForward, CastKind::kAllReduce, "tp"}, 2},
                  {{Pass::kBackward, CastKind::kGatherReduced, "tp"}, halves + 1},
                  {{Pass::kBackward, CastKind::kReduceScatter, "tp"}, halves + 1}};
              EXPECT_EQ(count(model.forward_and_backward()), wanted);
            });
  }
}

TEST(LlamaLedger, SequenceParallelMovesTheBytesOfTheAllReduces) {
  const auto moved = [](bool sequence_parallel) {
    std::atomic<int64_t> found = 0;
    on_mesh({.tp = 2, .layers = 2, .sequence_parallel = sequence_parallel},
            [&](tensor::Program&, Model& model) { found = bytes(model.forward_and_backward()); });
    return found.load();
  };
  EXPECT_EQ(moved(true), moved(false));
}

TEST(LlamaLedger, SequenceParallelSumsTheGainsOfEachUnitOverTensorRanks) {
  const int64_t layers = 2;
  for (const int zero : {0, 1}) {
    on_mesh({.shard = 2, .tp = 2, .layers = layers, .zero = zero, .sequence_parallel = true},
            [&](tensor::Program&, Model& model) {
              model.forward_and_backward();
              std::vector<LedgerEntry> over_tp;
              for (const LedgerEntry& entry : model.reduce_and_gather()) {
                if (entry.axes == mesh::AxisNames{"tp"}) {
                  over_tp.push_back(entry);
                }
              }
              // Two gains in a block, one beside the head; of each, the rows of one data rank.
              ASSERT_EQ(static_cast<int64_t>(over_tp.size()), layers + 1);
              for (size_t i = 0; i < over_tp.size(); ++i) {
                const int64_t gains = i < static_cast<size_t>(layers) ? 2 : 1;
                EXPECT_EQ(over_tp[i].cast, CastKind::kAllReduce);
                EXPECT_EQ(over_tp[i].group_bytes,
                          tensor::cast_bytes(CastKind::kAllReduce, 2, gains * 32 / 2 * kFloat));
              }
            });
  }
}

TEST(LlamaLedger, IsEmptyWithoutTensorRanks) {
  on_mesh({.shard = 2}, [](tensor::Program&, Model& model) {
    EXPECT_TRUE(model.forward_and_backward().empty());
  });
}

TEST(LlamaLedger, IsEqualFromStepToStep) {
  on_mesh({.shard = 2, .tp = 2}, [](tensor::Program& program, Model& model) {
    const std::vector<LedgerEntry> first = model.forward_and_backward();
    const std::vector<LedgerEntry> first_tail = model.reduce_and_gather();
    const int64_t plans = program.plans_made();
    EXPECT_EQ(model.forward_and_backward(), first);
    EXPECT_EQ(model.reduce_and_gather(), first_tail);
    EXPECT_EQ(program.plans_made(), plans) << "the second step planned anew";
  });
}

TEST(LlamaLedger, MovesEachUnitOnceAStepOverData) {
  const int64_t layers = 2;
  const int64_t units = layers + 2;  // the embedding, the blocks, norm and head
  on_mesh({.shard = 2, .layers = layers, .zero = 1}, [&](tensor::Program&, Model& set) {
    set.forward_and_backward();
    const std::vector<LedgerEntry> entries = set.reduce_and_gather();
    Counts by_cast;
    for (const LedgerEntry& entry : entries) {
      EXPECT_EQ(entry.pass, Pass::kStep);
      EXPECT_EQ(entry.axes, mesh::AxisNames{"dp_shard"});
      ++by_cast[{entry.pass, entry.cast, join(entry.axes)}];
    }
    EXPECT_EQ(static_cast<int64_t>(entries.size()), 2 * units);
    EXPECT_EQ((by_cast[{Pass::kStep, CastKind::kReduceScatter, "dp_shard"}]), units);
    // Gradients one way and weights the other, each element once.
    EXPECT_EQ(bytes(entries), 2 * parameter_count(model(layers)) * kFloat);
  });
}

}  // namespace
}  // namespace brigade::llama
