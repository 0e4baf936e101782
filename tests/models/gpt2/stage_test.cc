// SPDX-License-Identifier: Apache-2.0
/// The stage alone, on one rank; that its numbers are those of another implementation is shown end
/// to end.
#include "models/gpt2/stage.h"

#include <functional>
#include <memory>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "models/decoder/placement_rules.h"
#include "models/gpt2/facts.h"
#include "parallel/tensor/program.h"
#include "tests/support/rank_threads.h"
#include "tests/support/run_stage.h"

namespace brigade::gpt2 {
namespace {

constexpr int64_t kBatch = 2;
constexpr int64_t kSequence = 8;

Config model(double dropout = 0.0) {
  return {.dim = 24,
          .n_layers = 3,
          .n_heads = 3,
          .ffn_dim = 40,
          .vocab_size = 101,
          .n_positions = 16,
          .norm_eps = 1e-5,
          .dropout = dropout,
          .tie_embeddings = true};
}

/// A model on one rank in any number of stages, run one after the other.
class Chain {
 public:
  Chain(tensor::Program& program, int64_t stages, double dropout = 0.0) {
    for (int64_t stage = 0; stage < stages; ++stage) {
      zero::Options options;
      options.rules = decoder::tensor_parallel_rules();
      options.data = {.replicate = {"dp_replicate"}, .shard = {"dp_shard"}};
      parameters_.push_back(value_or_throw(
          zero::ParameterSet::create(program, stage_facts(model(), stage, stages), options)));
      parameters_.back()->initialize(3);
      stages_.push_back(std::make_unique<Gpt2Stage>(
          model(dropout),
          decoder::StagePlace{.stage = stage,
                              .stages = stages,
                              .sequence = kSequence,
                              .batch_axes = {"dp_replicate", "dp_shard"},
                              .sequence_parallel = false,
                              .seed = 11},
          program,
          *parameters_.back()));
    }
  }

  Gpt2Stage& stage(size_t index) { return *stages_[index]; }

  at::Tensor losses(const executor::Microbatch& microbatch) {
    tensor::ShardedTensor x;
    for (const auto& stage : stages_) {
      x = testing::run_stage(*stage, microbatch, x);
    }
    return x.local().detach();
  }

 private:
  std::vector<std::unique_ptr<zero::ParameterSet>> parameters_;
  std::vector<std::unique_ptr<Gpt2Stage>> stages_;
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

executor::Microbatch microbatch(std::optional<executor::TrainingPlace> training = {}) {
  const at::Tensor ids =
      at::remainder(at::arange(kBatch * (kSequence + 1), at::kLong) * 37 + 5, model().vocab_size)
          .view({kBatch, kSequence + 1});
  return {
      ids.narrow(1, 0, kSequence).contiguous(), ids.narrow(1, 1, kSequence).contiguous(), training};
}

TEST(Gpt2Stage, GivesTheActivationThatTheNextStageAsksFor) {
  on_one_rank([](tensor::Program& program) {
    Chain chain(program, 2);
    EXPECT_TRUE(chain.stage(0).is_first());
    EXPECT_FALSE(chain.stage(0).is_last());
    EXPECT_TRUE(chain.stage(1).is_last());
    const tensor::ShardedTensor activation = testing::run_stage(chain.stage(0), microbatch(), {});
    EXPECT_EQ(activation.type(), chain.stage(1).input_type(kBatch, kSequence));
  });
}

TEST(Gpt2Stage, GivesTheSameLossesInAnyNumberOfStages) {
  on_one_rank([](tensor::Program& program) {
    const executor::Microbatch trained = microbatch(executor::TrainingPlace{4, 6});
    for (const double dropout : {0.0, 0.3}) {
      const at::Tensor whole = Chain(program, 1, dropout).losses(trained);
      EXPECT_EQ(whole.sizes(), (std::vector<int64_t>{kBatch, kSequence}));
      EXPECT_TRUE(at::equal(Chain(program, 2, dropout).losses(trained), whole));
      EXPECT_TRUE(at::equal(Chain(program, 3, dropout).losses(trained), whole));
    }
  });
}

TEST(Gpt2Stage, SeesNoLaterToken) {
  on_one_rank([](tensor::Program& program) {
    Chain chain(program, 1);
    const at::Tensor before = chain.losses(microbatch());
    executor::Microbatch changed = microbatch();
    changed.tokens.select(1, 5).add_(1).remainder_(model().vocab_size);
    const at::Tensor after = chain.losses(changed);
    EXPECT_TRUE(at::equal(after.narrow(1, 0, 5), before.narrow(1, 0, 5)));
    EXPECT_TRUE(after.narrow(1, 5, 3).ne(before.narrow(1, 5, 3)).all().item<bool>());
  });
}

TEST(Gpt2Stage, DropsNothingInAnEvaluation) {
  on_one_rank([](tensor::Program& program) {
    EXPECT_TRUE(at::equal(Chain(program, 1, 0.5).losses(microbatch()),
                          Chain(program, 1).losses(microbatch())));
  });
}

TEST(Gpt2Stage, DropsOtherElementsInEachStepAndRow) {
  on_one_rank([](tensor::Program& program) {
    Chain chain(program, 1, 0.5);
    const at::Tensor losses = chain.losses(microbatch(executor::TrainingPlace{1, 0}));
    for (const executor::TrainingPlace& other :
         {executor::TrainingPlace{2, 0}, executor::TrainingPlace{1, 2}}) {
      EXPECT_TRUE(chain.losses(microbatch(other)).ne(losses).any().item<bool>());
    }
  });
}

TEST(Gpt2Stage, R018DropsTheSameElementsWhenItRunsAgain) {
  on_one_rank([](tensor::Program& program) {
    Chain chain(program, 1, 0.5);
    const executor::Microbatch trained = microbatch(executor::TrainingPlace{1, 0});
    EXPECT_TRUE(at::equal(chain.losses(trained), chain.losses(trained)));
  });
}

TEST(Gpt2Stage, DropsByTheRowsPlaceInTheGlobalBatchWhateverTheMicrobatch) {
  on_one_rank([](tensor::Program& program) {
    Chain chain(program, 1, 0.5);
    const at::Tensor both = chain.losses(microbatch(executor::TrainingPlace{3, 4}));
    for (int64_t row = 0; row < kBatch; ++row) {
      executor::Microbatch one = microbatch(executor::TrainingPlace{3, 4 + row});
      one.tokens = one.tokens.narrow(0, row, 1);
      one.targets = one.targets.narrow(0, row, 1);
      EXPECT_TRUE(at::allclose(chain.losses(one)[0], both[row], 1e-6, 1e-6)) << row;
    }
  });
}

}  // namespace
}  // namespace brigade::gpt2
