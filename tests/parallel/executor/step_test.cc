// SPDX-License-Identifier: Apache-2.0
#include "parallel/executor/step.h"

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/base/check.h"
#include "tests/parallel/executor/chain_ranks.h"

namespace brigade::executor {
namespace {

/// A stage that remembers, without holding them, the outputs it gave.
class WatchedStage : public Stage {
 public:
  explicit WatchedStage(Stage& stage) : stage_(stage) {}

  bool is_first() const override { return stage_.is_first(); }
  bool is_last() const override { return stage_.is_last(); }
  sharding::TensorType input_type(int64_t batch, int64_t sequence) const override {
    return stage_.input_type(batch, sequence);
  }
  const std::vector<std::string>& units() const override { return stage_.units(); }
  tensor::ShardedTensor forward(size_t unit,
                                const Microbatch& microbatch,
                                const tensor::ShardedTensor& activation) override {
    tensor::ShardedTensor output = stage_.forward(unit, microbatch, activation);
    if (unit + 1 == units().size()) {
      outputs_.emplace_back(output.local().getIntrusivePtr());
    }
    return output;
  }

  int64_t live_outputs() const {
    return std::count_if(
        outputs_.begin(), outputs_.end(), [](const auto& output) { return !output.expired(); });
  }

 private:
  Stage& stage_;
  std::vector<c10::weak_intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>> outputs_;
};

/// The most outputs alive after any action, per stage.
int64_t most_live_outputs(Rank& rank, bool trains) {
  WatchedStage watched(*rank.model);
  Context context = rank.context();
  context.stage = &watched;
  const Batch batch = rank.batch();
  const Update update = descend(rank, 0.5);
  const std::vector<schedule::Action>& actions = trains ? rank.actions : rank.evaluation;
  Step step(context, actions, batch, trains ? &update : nullptr);
  int64_t most = 0;
  for (size_t i = 0; i < actions.size(); ++i) {
    step.perform(i);
    most = std::max(most, watched.live_outputs());
  }
  step.finish();
  EXPECT_EQ(watched.live_outputs(), 0);
  return most;
}

TEST(Step, HoldsAsManyMicrobatchesAsTheScheduleHasInFlight) {
  on_chain({.stages = 4, .microbatches = 7},
           [](Rank& rank) { EXPECT_EQ(most_live_outputs(rank, true), 4 - rank.stage); });
  on_chain({.stages = 2, .microbatches = 7, .kind = schedule::Kind::kGPipe},
           [](Rank& rank) { EXPECT_EQ(most_live_outputs(rank, true), 7); });
}

TEST(Step, HoldsOneMicrobatchInAnEvaluation) {
  on_chain({.stages = 2, .microbatches = 7},
           [](Rank& rank) { EXPECT_LE(most_live_outputs(rank, false), 1); });
}

TEST(Step, ChecksThatTheBatchHasTheActionsMicrobatches) {
  on_chain({.microbatches = 2}, [](Rank& rank) {
    Batch batch = rank.batch();
    batch.microbatches.pop_back();
    const Context context = rank.context();
    const Update update = descend(rank, 0.5);
    Step step(context, rank.actions, batch, &update);
    EXPECT_THROW(
        {
          for (size_t i = 0; i < rank.actions.size(); ++i) {
            step.perform(i);
          }
        },
        CheckFailure);
  });
}

}  // namespace
}  // namespace brigade::executor
