// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/moved_plan.h"

#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "parallel/tensor/program.h"
#include "tests/support/rank_threads.h"
#include "tests/trainer/loop/recipe.h"
#include "trainer/loop/trainer.h"

namespace brigade::loop {
namespace {

using Settings = std::vector<std::string>;

/// What the ledger of a step has of the unit casts.
MovedPlan moved_by(const tensor::Ledger& ledger) {
  MovedPlan moved;
  for (const tensor::LedgerEntry& entry : ledger.entries()) {
    if (entry.source == "unit") {
      (entry.reason.ends_with("weights") ? moved.weights : moved.gradients) += entry.group_bytes;
    }
  }
  return moved;
}

class MovedBytes : public ::testing::TestWithParam<Settings> {};

TEST_P(MovedBytes, AreAsPlannedAtEveryStage) {
  for (const int stage : {0, 1, 2, 3}) {
    SCOPED_TRACE(concat("stage ", stage));
    Settings settings = GetParam();
    settings.push_back(concat("parallelism.zero_stage=", stage));
    const config::RunConfig config = recipe(settings);
    const config::RunFacts facts = facts_of(config);
    testing::run_ranks(facts.world_size, [&](collective::World& world) {
      at::set_num_threads(1);
      const auto trainer = value_or_throw(Trainer::create(
          world, {.config = config, .training = counting_tokens(96, 50), .validation = nullptr}));
      value_or_throw(trainer->step());
      const MovedPlan planned =
          value_or_throw(planned_moves(config, facts))[static_cast<size_t>(world.rank())];
      const MovedPlan moved = moved_by(trainer->program().ledger());
      EXPECT_EQ(moved.weights, planned.weights);
      EXPECT_EQ(moved.gradients, planned.gradients);
      EXPECT_GT(moved.gradients, 0);
    });
  }
}

const char* const kDp2 = "parallelism.data_parallel_shard_degree=2";

INSTANTIATE_TEST_SUITE_P(
    Recipes,
    MovedBytes,
    ::testing::Values(Settings{kDp2},
                      Settings{kDp2, "training.microbatch_size=4"},
                      Settings{kDp2, "model.tie_embeddings=true"},
                      Settings{kDp2, "parallelism.fsdp_prefetch=0"},
                      Settings{kDp2, "parallelism.fsdp_reshard_after_forward=never"},
                      Settings{kDp2, "parallelism.fsdp_replicate_below=100"},
                      Settings{kDp2, "parallelism.data_parallel_replicate_degree=2"},
                      Settings{kDp2,
                               "parallelism.tensor_parallel_degree=2",
                               "parallelism.sequence_parallel=true"},
                      Settings{kDp2, "parallelism.pipeline_parallel_degree=2"},
                      Settings{kDp2, "training.mixed_precision_reduce=bfloat16"}));

}  // namespace
}  // namespace brigade::loop
