// SPDX-License-Identifier: Apache-2.0
/// The stage alone, on one rank; that its numbers are those of another implementation is shown end
/// to end.
#include "models/llama/stage.h"

#include <cmath>
#include <functional>
#include <memory>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "models/decoder/placement_rules.h"
#include "models/llama/facts.h"
#include "parallel/tensor/program.h"
#include "tests/support/rank_threads.h"
#include "tests/support/run_stage.h"

namespace brigade::llama {
namespace {

constexpr int64_t kBatch = 2;
constexpr int64_t kSequence = 8;

const Config kModel{.dim = 32,
                    .n_layers = 3,
                    .n_heads = 4,
                    .n_kv_heads = 2,
                    .ffn_dim = 64,
                    .vocab_size = 96,
                    .rope_theta = 10000.0,
                    .norm_eps = 1e-5,
                    .tie_embeddings = false};

decoder::StagePlace place_of(int64_t stage, int64_t stages) {
  return {.stage = stage,
          .stages = stages,
          .sequence = kSequence,
          .batch_axes = {"dp_replicate", "dp_shard"},
          .sequence_parallel = false};
}

/// A model on one rank in any number of stages, run one after the other.
class Chain {
 public:
  Chain(tensor::Program& program, int64_t stages) {
    for (int64_t stage = 0; stage < stages; ++stage) {
      zero::Options options;
      options.rules = decoder::tensor_parallel_rules();
      options.data = {.replicate = {"dp_replicate"}, .shard = {"dp_shard"}};
      parameters_.push_back(value_or_throw(
          zero::ParameterSet::create(program, stage_facts(kModel, stage, stages), options)));
      parameters_.back()->initialize(3);
      stages_.push_back(std::make_unique<LlamaStage>(
          kModel, place_of(stage, stages), program, *parameters_.back()));
    }
  }

  LlamaStage& stage(size_t index) { return *stages_[index]; }
  zero::ParameterSet& parameters(size_t index) { return *parameters_[index]; }

  at::Tensor losses(const executor::Microbatch& microbatch) {
    tensor::ShardedTensor x;
    for (const auto& stage : stages_) {
      x = testing::run_stage(*stage, microbatch, x);
    }
    return x.local().detach();
  }

 private:
  std::vector<std::unique_ptr<zero::ParameterSet>> parameters_;
  std::vector<std::unique_ptr<LlamaStage>> stages_;
};

void on_one_rank(const std::function<void(tensor::Program&)>& body) {
  testing::run_ranks(1, [&](collective::World& world) {
    at::set_num_threads(1);
    const mesh::Mesh mesh =
        value_or_throw(mesh::Mesh::create({{"dp_replicate", 1}, {"dp_shard", 1}, {"tp", 1}}));
    tensor::Program program(mesh, 0, [&](const auto& members, const std::string& name) {
      return world.group(members, name);
    });
    body(program);
  });
}

executor::Microbatch microbatch() {
  const at::Tensor ids =
      at::remainder(at::arange(kBatch * (kSequence + 1), at::kLong) * 37 + 5, kModel.vocab_size)
          .view({kBatch, kSequence + 1});
  return {ids.narrow(1, 0, kSequence).contiguous(), ids.narrow(1, 1, kSequence).contiguous()};
}

TEST(LlamaStage, KnowsItsEnds) {
  on_one_rank([](tensor::Program& program) {
    Chain chain(program, 3);
    EXPECT_TRUE(chain.stage(0).is_first());
    EXPECT_FALSE(chain.stage(0).is_last());
    EXPECT_FALSE(chain.stage(1).is_first());
    EXPECT_FALSE(chain.stage(1).is_last());
    EXPECT_TRUE(chain.stage(2).is_last());
  });
}

TEST(LlamaStage, GivesTheActivationThatTheNextStageAsksFor) {
  on_one_rank([](tensor::Program& program) {
    Chain chain(program, 2);
    const tensor::ShardedTensor activation = testing::run_stage(chain.stage(0), microbatch(), {});
    EXPECT_EQ(activation.type(), chain.stage(1).input_type(kBatch, kSequence));
    EXPECT_EQ(activation.local().sizes(), (std::vector<int64_t>{kBatch, kSequence, kModel.dim}));
  });
}

TEST(LlamaStage, GivesTheSameLossesInAnyNumberOfStages) {
  on_one_rank([](tensor::Program& program) {
    const at::Tensor whole = Chain(program, 1).losses(microbatch());
    EXPECT_EQ(whole.sizes(), (std::vector<int64_t>{kBatch, kSequence}));
    EXPECT_TRUE(at::equal(Chain(program, 2).losses(microbatch()), whole));
    EXPECT_TRUE(at::equal(Chain(program, 3).losses(microbatch()), whole));
  });
}

TEST(LlamaStage, GivesNoLossWhereNothingIsTrained) {
  on_one_rank([](tensor::Program& program) {
    Chain chain(program, 1);
    const at::Tensor all = chain.losses(microbatch());
    executor::Microbatch masked = microbatch();
    masked.targets[0].fill_(-1);
    const at::Tensor some = chain.losses(masked);
    EXPECT_EQ(some[0].abs().max().item<float>(), 0.0F);
    EXPECT_TRUE(at::equal(some[1], all[1]));
  });
}

TEST(LlamaStage, SeesNoLaterToken) {
  on_one_rank([](tensor::Program& program) {
    Chain chain(program, 1);
    const at::Tensor before = chain.losses(microbatch());
    executor::Microbatch changed = microbatch();
    changed.tokens.select(1, 5).add_(1).remainder_(kModel.vocab_size);
    const at::Tensor after = chain.losses(changed);
    EXPECT_TRUE(at::equal(after.narrow(1, 0, 5), before.narrow(1, 0, 5)));
    EXPECT_TRUE(after.narrow(1, 5, 3).ne(before.narrow(1, 5, 3)).all().item<bool>());
  });
}

TEST(LlamaStage, DistinguishesPlaces) {
  on_one_rank([](tensor::Program& program) {
    Chain chain(program, 1);
    executor::Microbatch swapped = microbatch();
    const at::Tensor before = chain.losses(swapped);
    // The last place sees the same tokens before it, in another order.
    const at::Tensor first = swapped.tokens.select(1, 0).clone();
    swapped.tokens.select(1, 0).copy_(swapped.tokens.select(1, 1));
    swapped.tokens.select(1, 1).copy_(first);
    const at::Tensor after = chain.losses(swapped);
    EXPECT_TRUE(
        after.select(1, kSequence - 1).ne(before.select(1, kSequence - 1)).all().item<bool>());
  });
}

TEST(LlamaStage, GuessesEvenlyWithAZeroHead) {
  on_one_rank([](tensor::Program& program) {
    Chain chain(program, 2);
    chain.parameters(1).stored_weight("lm_head.weight").zero_();
    const at::Tensor losses = chain.losses(microbatch());
    EXPECT_LE((losses - std::log(96.0)).abs().max().item<float>(), 1e-6F);
  });
}

}  // namespace
}  // namespace brigade::llama
