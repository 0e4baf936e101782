// SPDX-License-Identifier: Apache-2.0
/// Field reports about printed numbers: each has a second route.
#include <algorithm>
#include <map>
#include <mutex>

#include <gtest/gtest.h>

#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/layouts.h"
#include "tests/support/small_recipe.h"
#include "trainer/loop/model_shape.h"

namespace brigade::end_to_end {
namespace {

TEST(FieldReport, R098_ReportsTheTrueLossOnEveryRankOfAPipeline) {
  const auto source = random_tokens(96, 16, 100);
  const Outcome one = train(trial_of({}), source, 5);
  for (const Degrees& degrees :
       {Degrees{.pp = 2}, Degrees{.pp = 4}, Degrees{.shard = 2, .tp = 2, .pp = 2}}) {
    for (const Way& way : ways(degrees)) {
      SCOPED_TRACE(degrees.name() + " " + way.name);
      // train() compares the reports of all ranks, so these are every rank's.
      expect_same_curve(train(trial_of(degrees, way.settings), source, 5), one);
    }
  }
}

struct Counted {
  int64_t weights = 0;
  int64_t gradients = 0;
};

/// What each rank really holds: weights, and gradients when the optimizer is about to read them.
std::map<int64_t, Counted> count_bytes(const Trial& given) {
  std::map<int64_t, Counted> counted;
  std::mutex mutex;
  Trial trial = given;
  trial.prepare = [&](loop::Trainer& trainer, collective::World& world) {
    trainer.set_observer([&, rank = world.rank()](const schedule::Action& action) {
      if (action.kind == schedule::ActionKind::kOptimizerStep) {
        const std::lock_guard<std::mutex> lock(mutex);
        counted[rank] = {trainer.parameters().weight_bytes(),
                         trainer.parameters().gradient_bytes()};
      }
    });
  };
  train(trial, random_tokens(96, 16, 100), 1);
  return counted;
}

TEST(FieldReport, R100_EstimatesTheBytesThatAreCounted) {
  for (const Degrees& degrees : {Degrees{},
                                 Degrees{.shard = 4},
                                 Degrees{.pp = 3},
                                 Degrees{.tp = 2, .pp = 2},
                                 Degrees{.shard = 2, .pp = 4}}) {
    for (const char* tied : {"model.tie_embeddings=false", "model.tie_embeddings=true"}) {
      for (const Way& way : ways(degrees)) {
        SCOPED_TRACE(degrees.name() + " " + tied + " " + way.name);
        const Trial trial = trial_of(
            degrees, Settings{"model.n_layers=8", "model.vocab_size=97", tied} + way.settings);
        const config::RunConfig config = testing::small_recipe(trial.settings);
        const config::RunFacts facts = value_or_throw(config::resolve(config, degrees.ranks()));
        const std::map<int64_t, Counted> counted = count_bytes(trial);
        ASSERT_EQ(counted.size(), static_cast<size_t>(degrees.ranks()));
        for (const auto& [rank, bytes] : counted) {
          const loop::RankBytes estimated = value_or_throw(loop::rank_bytes(config, facts, rank));
          EXPECT_EQ(estimated.weights, bytes.weights) << "rank " << rank;
          EXPECT_EQ(estimated.gradients, bytes.gradients) << "rank " << rank;
        }
      }
    }
  }
}

}  // namespace
}  // namespace brigade::end_to_end
