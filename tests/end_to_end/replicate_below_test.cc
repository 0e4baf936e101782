// SPDX-License-Identifier: Apache-2.0
/// parallelism.fsdp_replicate_below: small parameters that stay whole at stage 3 change bytes and
/// memory, and no bit of the curve.
#include <string>

#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "parallel/tensor/program.h"
#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/layouts.h"

namespace brigade::end_to_end {
namespace {

const Settings kRecipe = {"optimizer.name=AdamW",
                          "optimizer.lr=3e-3",
                          "training.max_norm=1.0",
                          "training.microbatch_size=2"};
const Settings kStage3 = {"parallelism.zero_stage=3"};
const Settings kStage2 = {"parallelism.zero_stage=2"};

struct Held {
  Outcome outcome;
  int64_t weights = 0;  ///< bytes on rank 0
  int64_t moved = 0;    ///< by unit casts of the last step
};

Held run(const Degrees& degrees, int64_t below, const Settings& settings) {
  Held held;
  Trial trial = trial_of(
      degrees, kRecipe + settings + Settings{concat("parallelism.fsdp_replicate_below=", below)});
  trial.after_step = [&](loop::Trainer& trainer, collective::World& world) {
    if (world.rank() == 0) {
      held.weights = trainer.parameters().weight_bytes();
      held.moved = trainer.program().ledger().bytes();
    }
  };
  held.outcome = train(trial, random_tokens(96, 16, 100), 4);
  return held;
}

TEST(ReplicateBelow, KeepsTheBitsAndTradesMemoryForBytes) {
  constexpr int64_t kGains = 9 * 32 * 4;  // bytes: two norms in each of four blocks, one at the end
  for (const Degrees& degrees :
       {Degrees{.shard = 2}, Degrees{.replicate = 2, .shard = 2}, Degrees{.shard = 2, .pp = 2}}) {
    SCOPED_TRACE(degrees.name());
    const Settings fixed =
        kStage3 + Settings{"debug.deterministic=true", "training.global_batch_size=16"};
    const Held none = run(degrees, 0, fixed);
    const Held gains = run(degrees, 33, fixed);  // a gain has 32 elements
    const Held all = run(degrees, 1'000'000, fixed);
    expect_same_bits(gains.outcome, none.outcome);
    expect_same_bits(all.outcome, none.outcome);
    EXPECT_LT(gains.moved, none.moved);
    EXPECT_LT(all.moved, gains.moved);
    EXPECT_GT(gains.weights, none.weights);
    EXPECT_EQ(all.weights, 2 * none.weights);
    if (degrees.pp == 1) {
      EXPECT_EQ(gains.weights, none.weights + kGains / 2);
    }
  }
}

TEST(ReplicateBelow, IsStageTwoWhenNothingIsLarger) {
  const Settings each = {"parallelism.reduce_gradients=microbatch"};
  const Held all = run({.shard = 2}, 1'000'000, kStage3 + each);
  const Held second = run({.shard = 2}, 0, kStage2 + each);
  expect_same_bits(all.outcome, second.outcome);
  EXPECT_EQ(all.moved, second.moved);
  EXPECT_EQ(all.weights, second.weights);
}

TEST(ReplicateBelow, TrainsTheCurveOfOneRankWithTensorRanksAndATiedHead) {
  const Settings tied = kStage3 + Settings{"model.tie_embeddings=true"};
  const Outcome one = run({}, 0, tied).outcome;
  for (const Degrees& degrees : {Degrees{.shard = 3, .tp = 2}, Degrees{.shard = 2, .pp = 2}}) {
    SCOPED_TRACE(degrees.name());
    expect_same_curve(run(degrees, 33, tied).outcome, one, {.parameters = 1e-4});
  }
}

}  // namespace
}  // namespace brigade::end_to_end
