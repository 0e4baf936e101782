// SPDX-License-Identifier: Apache-2.0
/// Planned against measured: a run's own steps, on every rank.
#include "trainer/loop/run_memory.h"

#include <algorithm>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "tests/support/rank_threads.h"
#include "tests/trainer/loop/recipe.h"
#include "trainer/loop/memory_report.h"
#include "trainer/loop/model_shape.h"
#include "trainer/loop/trainer.h"

namespace brigade::loop {
namespace {

using Settings = std::vector<std::string>;
using tensor::Category;
using tensor::CategoryBytes;

const char* const kTp2 = "parallelism.tensor_parallel_degree=2";
const char* const kPp2 = "parallelism.pipeline_parallel_degree=2";
const char* const kDp2 = "parallelism.data_parallel_shard_degree=2";
const char* const kSplit = "parallelism.sequence_parallel=true";
const char* const kOneMicrobatch = "training.microbatch_size=8";
const char* const kFull = "activation_checkpoint.mode=full";
const char* const kProducts = "activation_checkpoint.selective_ac_option=op";

std::string stage(int number) {
  return "parallelism.zero_stage=" + std::to_string(number);
}

/// Gradients of a unit's parameters count as activations until they are taken from their leaves.
int64_t largest_unit_gradient(const config::RunConfig& config,
                              const config::RunFacts& facts,
                              int64_t world_rank) {
  const mesh::Mesh world = value_or_throw(mesh::Mesh::create(facts.axes));
  const Seat seat = seat_of(world, world_rank);
  const auto units = value_or_throw(unit_elements(stage_mesh(world),
                                                  seat.stage_rank,
                                                  parameters_of(config, seat.stage, facts.pp),
                                                  zero_options(config, facts)));
  return largest_neighbours(units, &UnitElements::used, 1) * size_of(DType::kFloat32);
}

class RunMemory : public ::testing::TestWithParam<Settings> {};

TEST_P(RunMemory, IsAsPlannedOnEveryRank) {
  tensor::install_memory_meter();
  const config::RunConfig config = recipe(GetParam());
  const config::RunFacts facts = facts_of(config);
  const std::vector<CategoryBytes> all = value_or_throw(planned_memory(config, facts));
  testing::run_ranks(facts.world_size, [&](collective::World& world) {
    at::set_num_threads(1);
    MemoryReport memory(world);
    const auto trainer = value_or_throw(Trainer::create(
        world, {.config = config, .training = counting_tokens(96, 50), .validation = nullptr}));
    memory.hold(Category::kOptimizerStates, trainer->optimizer_bytes());
    const CategoryBytes& planned = all[static_cast<size_t>(world.rank())];
    EXPECT_EQ(memory.now().live[Category::kParameters], planned[Category::kParameters]);
    memory.begin_steps();
    for (int step = 0; step < 2; ++step) {
      value_or_throw(trainer->step());
      memory.end_step();
    }
    const CategoryBytes peak = memory.measured().peak;
    const int64_t fresh = largest_unit_gradient(config, facts, world.rank());
    EXPECT_EQ(peak[Category::kParameters], planned[Category::kParameters]);
    EXPECT_EQ(peak[Category::kOptimizerStates], planned[Category::kOptimizerStates]);
    EXPECT_LE(peak[Category::kGradients], planned[Category::kGradients]);
    EXPECT_GE(peak[Category::kGradients] + fresh, planned[Category::kGradients]);
    EXPECT_LE(peak[Category::kGathered], planned[Category::kGathered]);
    EXPECT_GE(2 * peak[Category::kGathered], planned[Category::kGathered]);
    EXPECT_LE(peak[Category::kActivations], planned[Category::kActivations] + fresh);
    EXPECT_GE(5 * peak[Category::kActivations], 4 * planned[Category::kActivations]);
    EXPECT_LE(world.buffer_bytes().peak, planned[Category::kCommunication]);
    EXPECT_LE(memory.measured().total, planned.total());
  });
}

INSTANTIATE_TEST_SUITE_P(
    Recipes,
    RunMemory,
    ::testing::Values(Settings{},
                      Settings{kOneMicrobatch},
                      Settings{"debug.deterministic=true"},
                      Settings{"model.tie_embeddings=true"},
                      Settings{kDp2},
                      Settings{kDp2, stage(0)},
                      Settings{kDp2, stage(2)},
                      Settings{kDp2, stage(2), "training.microbatch_size=4"},
                      Settings{kDp2, stage(3)},
                      Settings{kDp2, stage(3), "parallelism.reduce_gradients=step"},
                      Settings{kDp2, stage(3), "parallelism.fsdp_prefetch=2"},
                      Settings{kDp2, stage(3), "parallelism.fsdp_reshard_after_forward=never"},
                      Settings{kTp2},
                      Settings{kTp2, kSplit},
                      Settings{kPp2},
                      Settings{kPp2, "parallelism.pipeline_parallel_schedule=GPipe"},
                      Settings{kPp2, kTp2, kDp2, stage(3)},
                      Settings{kFull},
                      Settings{kDp2, stage(2), "training.mixed_precision_param=bfloat16"},
                      Settings{kProducts, "activation_checkpoint.mode=selective"}));

TEST(PlannedMemory, RecomputingKeepsLessOfEachBlock) {
  const auto activations = [](const Settings& settings) {
    const config::RunConfig config = recipe(settings);
    return value_or_throw(planned_memory(config, facts_of(config)))[0][Category::kActivations];
  };
  const int64_t all = activations({});
  const int64_t products = activations({kProducts, "activation_checkpoint.mode=selective"});
  const int64_t input = activations({kFull});
  EXPECT_LT(products, all);
  EXPECT_LT(input, products);
}

TEST(PlannedMemory, AStageHoldsAsManyMicrobatchesAsItsScheduleHasInFlight) {
  const config::RunConfig config = recipe({kPp2});
  const config::RunFacts facts = facts_of(config);
  EXPECT_EQ(activation_plan(config, facts, 0).in_flight, 2);
  EXPECT_EQ(activation_plan(config, facts, 1).in_flight, 1);
  const config::RunConfig all_first =
      recipe({kPp2, "parallelism.pipeline_parallel_schedule=GPipe"});
  EXPECT_EQ(activation_plan(all_first, facts, 1).in_flight, 4);
}

}  // namespace
}  // namespace brigade::loop
