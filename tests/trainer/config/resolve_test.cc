// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A small config on a mesh; batch and microbatch as given.
RunConfig on_mesh(int64_t pp, int64_t replicate, int64_t shard, int64_t tp) {
  RunConfig config;
  config.parallelism.pipeline_parallel_degree = pp;
  config.parallelism.data_parallel_replicate_degree = replicate;
  config.parallelism.data_parallel_shard_degree = shard;
  config.parallelism.tensor_parallel_degree = tp;
  return config;
}

RunFacts resolved(const RunConfig& config, int64_t world) {
  const Result<RunFacts> facts = resolve(config, world);
  EXPECT_TRUE(facts) << (facts ? "" : facts.error().text);
  return facts.value_or(RunFacts());
}

std::string complaint(const RunConfig& config, int64_t world) {
  const Result<RunFacts> facts = resolve(config, world);
  EXPECT_FALSE(facts);
  return facts ? "" : facts.error().text;
}

TEST(Resolve, FillsTheFreeDegreeFromTheWorld) {
  const RunFacts facts = resolved(on_mesh(2, 1, -1, 2), 8);
  EXPECT_EQ(facts.dp_shard, 2);
  EXPECT_EQ(facts.data_ranks, 2);
  EXPECT_THAT(facts.axes,
              ElementsAre(mesh::Axis{"pp", 2},
                          mesh::Axis{"dp_replicate", 1},
                          mesh::Axis{"dp_shard", 2},
                          mesh::Axis{"tp", 2}));
}

TEST(Resolve, SaysThatSequenceParallelNeedsTensorRanks) {
  RunConfig config = on_mesh(1, 1, 2, 1);
  config.parallelism.sequence_parallel = true;
  EXPECT_THAT(resolved(config, 2).notes,
              ElementsAre("sequence_parallel changes nothing: there is one tensor rank"));
  config = on_mesh(1, 1, 1, 2);
  config.parallelism.sequence_parallel = true;
  EXPECT_TRUE(resolved(config, 2).notes.empty());
}

TEST(Resolve, CountsTheRanksToStart) {
  EXPECT_EQ(wanted_ranks(on_mesh(2, 1, 2, 2)), 8);
  RunConfig config = on_mesh(2, 1, -1, 2);
  EXPECT_EQ(wanted_ranks(config), 1);
  config.launch.ranks = 4;
  EXPECT_EQ(wanted_ranks(config), 4);
}

TEST(Resolve, R095GivesTheBatchEquation) {
  RunConfig config = on_mesh(2, 1, 2, 2);
  config.training.microbatch_size = 2;
  config.training.global_batch_size = 16;
  const RunFacts facts = resolved(config, 8);
  EXPECT_EQ(facts.microbatches, 4);
  EXPECT_EQ(facts.global_batch, 16);
  EXPECT_EQ(facts.tokens_per_step, 16 * 2048);
  EXPECT_EQ(facts.batch_equation,
            "global 16 = microbatch 2 x m 4 x data ranks 2 (dp_replicate 1 x dp_shard 2)");
}

TEST(Resolve, R095RefusesABatchThatDoesNotDivideWithTheNearestThatDo) {
  RunConfig config = on_mesh(2, 1, 2, 2);
  config.training.microbatch_size = 2;
  config.training.global_batch_size = 6;
  EXPECT_EQ(complaint(config, 8),
            "batch: global 6 = microbatch 2 x m 1.5 x data ranks 2 (dp_replicate 1 x dp_shard 2), "
            "but m must be a whole number of at least 1; nearest values: "
            "training.global_batch_size=4 or 8, or training.microbatch_size=1 or 3");
  config.training.global_batch_size = 1;
  EXPECT_THAT(complaint(config, 8), HasSubstr("training.global_batch_size=4"));
}

TEST(Resolve, TakesTheMicrobatchFromTheFirstKeyThatSaysIt) {
  RunConfig config = on_mesh(1, 1, 2, 1);
  config.training.local_batch_size = 6;
  EXPECT_EQ(resolved(config, 2).microbatch_size, 6);
  EXPECT_EQ(resolved(config, 2).global_batch, 12);
  EXPECT_EQ(resolved(config, 2).microbatches, 1);
  config.parallelism.pipeline_parallel_degree = 2;
  config.parallelism.pipeline_parallel_microbatch_size = 2;
  EXPECT_EQ(resolved(config, 4).microbatch_size, 2);
  EXPECT_EQ(resolved(config, 4).microbatches, 3);
  config.training.microbatch_size = 3;
  EXPECT_EQ(resolved(config, 4).microbatches, 2);
}

TEST(Resolve, RefusesAMeshThatIsNotTheWorldWithAllFactors) {
  EXPECT_EQ(complaint(on_mesh(2, 1, 2, 2), 4),
            "mesh: pp 2 x dp_replicate 1 x dp_shard 2 x tp 2 = 8 ranks, but the world has 4; set "
            "parallelism.data_parallel_shard_degree=1 or start 8 ranks");
  EXPECT_EQ(complaint(on_mesh(2, 1, 2, 2), 6),
            "mesh: pp 2 x dp_replicate 1 x dp_shard 2 x tp 2 = 8 ranks, but the world has 6; start "
            "8 ranks");
  EXPECT_THAT(complaint(on_mesh(2, 1, -1, 2), 6), HasSubstr("nearest worlds: 4, 8"));
}

TEST(Resolve, RefusesHeadsThatCannotBeSplitAndSaysWhichCan) {
  RunConfig config = on_mesh(1, 1, 1, 3);
  config.model.n_heads = 4;
  config.model.n_kv_heads = 4;
  EXPECT_EQ(complaint(config, 3), "4 query heads cannot be split over tp=3; tp may be 1, 2, 4");
  config.parallelism.tensor_parallel_degree = 4;
  config.model.n_kv_heads = 2;
  EXPECT_EQ(complaint(config, 4),
            "2 key and value heads cannot be split over tp=4; tp may be 1, 2");
}

TEST(Resolve, RefusesMoreStagesThanLayers) {
  EXPECT_THAT(complaint(on_mesh(7, 1, 1, 1), 7),
              HasSubstr("6 layers cannot fill pp=7 stages; pipeline_parallel_degree may be at most "
                        "6"));
}

TEST(Resolve, NeedsTheMicrobatchOfTheDeterministicMode) {
  RunConfig config = on_mesh(1, 1, 2, 1);
  config.debug.deterministic = true;
  EXPECT_THAT(complaint(config, 2),
              HasSubstr("debug.deterministic needs training.microbatch_size"));
  config.training.microbatch_size = 8;
  EXPECT_EQ(resolved(config, 2).microbatches, 1);
  config.training.global_batch_size = 48;
  EXPECT_THAT(complaint(config, 2), HasSubstr("a power of two of microbatches"));
}

TEST(Resolve, ListsAllThatIsWrongAtOnce) {
  RunConfig config = on_mesh(7, 1, 2, 1);
  config.training.global_batch_size = 7;
  const std::string text = complaint(config, 14);
  EXPECT_THAT(text, HasSubstr("cannot fill pp=7"));
  EXPECT_THAT(text, HasSubstr("batch: global 7"));
}

TEST(Resolve, ChoosesTheZeroStageFromTheShardDegree) {
  EXPECT_EQ(resolved(on_mesh(1, 1, 2, 1), 2).zero_stage, 1);
  EXPECT_EQ(resolved(on_mesh(1, 2, 1, 1), 2).zero_stage, 0);
  RunConfig config = on_mesh(1, 1, 2, 1);
  config.parallelism.zero_stage = 0;
  EXPECT_EQ(resolved(config, 2).zero_stage, 0);
}

TEST(Resolve, ReducesEachMicrobatchWhereGradientsAreKeptAsShards) {
  RunConfig config = on_mesh(1, 1, 2, 1);
  for (const int64_t stage : {0, 1, 2, 3}) {
    config.parallelism.zero_stage = stage;
    config.parallelism.reduce_gradients.reset();
    EXPECT_EQ(resolved(config, 2).reduces_each_microbatch, stage >= 2) << stage;
    config.parallelism.reduce_gradients = "step";
    EXPECT_FALSE(resolved(config, 2).reduces_each_microbatch) << stage;
  }
  config.parallelism.reduce_gradients.reset();
  config.debug.deterministic = true;
  config.training.microbatch_size = 8;
  EXPECT_FALSE(resolved(config, 2).reduces_each_microbatch);
}

TEST(Resolve, RefusesToReduceEachMicrobatchOfGradientsThatStayWhole) {
  RunConfig config = on_mesh(1, 1, 2, 1);
  config.parallelism.reduce_gradients = "microbatch";
  for (const int64_t stage : {0, 1}) {
    config.parallelism.zero_stage = stage;
    const std::string text = complaint(config, 2);
    EXPECT_THAT(text, HasSubstr("parallelism.reduce_gradients = \"microbatch\""));
    EXPECT_THAT(text, HasSubstr("zero_stage is " + std::to_string(stage)));
    EXPECT_THAT(text, HasSubstr("set parallelism.zero_stage=2 or"));
  }
}

TEST(Resolve, RefusesToReduceEachMicrobatchInTheDeterministicMode) {
  RunConfig config = on_mesh(1, 1, 2, 1);
  config.parallelism.zero_stage = 3;
  config.parallelism.reduce_gradients = "microbatch";
  config.debug.deterministic = true;
  config.training.microbatch_size = 8;
  EXPECT_THAT(complaint(config, 2),
              HasSubstr("debug.deterministic needs parallelism.reduce_gradients=step"));
}

TEST(Resolve, CountsTheBlocksThatAreComputedAgain) {
  RunConfig config = on_mesh(1, 1, 1, 1);
  EXPECT_EQ(resolved(config, 1).recompute_every, 0);
  config.activation_checkpoint.mode = "full";
  EXPECT_EQ(resolved(config, 1).recompute_every, 1);
  config.activation_checkpoint.mode = "selective";
  EXPECT_EQ(resolved(config, 1).recompute_every, 2);
  config.activation_checkpoint.selective_ac_option = "op";
  EXPECT_EQ(resolved(config, 1).recompute_every, 0);
}

TEST(Resolve, RefusesARecomputeOptionThatIsNoNumberOfBlocks) {
  RunConfig config = on_mesh(1, 1, 1, 1);
  config.activation_checkpoint.mode = "selective";
  for (const char* option : {"x", "0", "-1", "2x", "", "99999999999999999999"}) {
    config.activation_checkpoint.selective_ac_option = option;
    EXPECT_EQ(complaint(config, 1),
              "activation_checkpoint.selective_ac_option must be \"op\" or a number of blocks of "
              "at least 1, found \"" +
                  std::string(option) + "\"");
  }
}

TEST(Resolve, NotesWhatIsLegalButSurprising) {
  RunConfig config = on_mesh(4, 1, 1, 1);
  config.training.global_batch_size = 2;
  config.launch.ranks = 8;
  const RunFacts facts = resolved(config, 4);
  EXPECT_THAT(facts.notes,
              ElementsAre(HasSubstr("m 2 is below pp 4"), HasSubstr("launch.ranks 8 is not used")));
}

TEST(Resolve, NotesInWhichBatchesValidationRuns) {
  RunConfig config = on_mesh(1, 1, 1, 1);
  config.validation.enable = true;
  EXPECT_THAT(resolved(config, 1).notes,
              ElementsAre(HasSubstr("validation runs in the training's batches")));
}

}  // namespace
}  // namespace brigade::config
