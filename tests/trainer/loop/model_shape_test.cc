// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/model_shape.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/trainer/loop/recipe.h"

namespace brigade::loop {
namespace {

using Settings = std::vector<std::string>;

const char* const kTp2 = "parallelism.tensor_parallel_degree=2";
const char* const kPp2 = "parallelism.pipeline_parallel_degree=2";
const char* const kDp2 = "parallelism.data_parallel_shard_degree=2";
const char* const kTied = "model.tie_embeddings=true";

std::vector<RankBytes> bytes_of_all(const Settings& settings) {
  const config::RunConfig config = recipe(settings);
  const config::RunFacts facts = facts_of(config);
  std::vector<RankBytes> bytes;
  for (int64_t rank = 0; rank < facts.world_size; ++rank) {
    bytes.push_back(value_or_throw(rank_bytes(config, facts, rank)));
  }
  return bytes;
}

TEST(ModelShape, SeatsRanksStageByStage) {
  const config::RunFacts facts = facts_of(recipe({kTp2, kPp2, kDp2}));
  const mesh::Mesh world = value_or_throw(mesh::Mesh::create(facts.axes));
  EXPECT_EQ(stage_mesh(world).size(), 4);
  EXPECT_FALSE(stage_mesh(world).has_axis("pp"));
  for (int64_t rank = 0; rank < 8; ++rank) {
    const Seat seat = seat_of(world, rank);
    EXPECT_EQ(seat.stage, world.coordinate(rank, "pp")) << rank;
    EXPECT_EQ(stage_mesh(world).coordinate(seat.stage_rank, "tp"), world.coordinate(rank, "tp"));
    EXPECT_EQ(stage_mesh(world).coordinate(seat.stage_rank, "dp_shard"),
              world.coordinate(rank, "dp_shard"));
  }
}

TEST(ModelShape, TakesTheFamilyThatTheRecipeNames) {
  config::RunConfig config = recipe();
  EXPECT_EQ(parameters_of(config, 0, 1).front().name, "model.embed_tokens.weight");
  config.model.name = "gpt2";
  EXPECT_EQ(parameters_of(config, 0, 1).front().name, "transformer.wte.weight");
  EXPECT_EQ(model_of(config)->layers(), config.model.n_layers);
}

TEST(ModelShape, UsesNormsByPartsWhenTheSequenceIsSplit) {
  const config::RunConfig plain = recipe({kTp2});
  EXPECT_TRUE(zero_options(plain, facts_of(plain)).parts.empty());
  const config::RunConfig split = recipe({kTp2, "parallelism.sequence_parallel=true"});
  EXPECT_TRUE(zero_options(split, facts_of(split)).parts.contains("norm"));
  EXPECT_EQ(bytes_of_all({kTp2, "parallelism.sequence_parallel=true"}), bytes_of_all({kTp2}));
}

TEST(ModelShape, DecaysWhatTheOptimizerSays) {
  for (const sharding::ParameterFacts& facts : parameters_of(recipe(), 0, 1)) {
    EXPECT_EQ(facts.decayed, facts.shape.size() == 2) << facts.name;
  }
  for (const sharding::ParameterFacts& facts :
       parameters_of(recipe({"optimizer.decay=all"}), 0, 1)) {
    EXPECT_TRUE(facts.decayed) << facts.name;
  }
}

TEST(ModelShape, AddsMicrobatchesAlongTheTreeWhenDeterministic) {
  const config::RunConfig plain = recipe();
  EXPECT_EQ(zero_options(plain, facts_of(plain)).accumulation, zero::GradientSum::Order::kRunning);
  const config::RunConfig fixed = recipe({"debug.deterministic=true"});
  EXPECT_EQ(zero_options(fixed, facts_of(fixed)).accumulation, zero::GradientSum::Order::kTree);
}

TEST(ModelShape, CountsAllOfTheModelOnOneRank) {
  const int64_t count = model_of(recipe())->parameter_count();
  EXPECT_EQ(bytes_of_all({})[0],
            (RankBytes{.parameters = count,
                       .weights = 4 * count,
                       .gradients = 4 * count,
                       .optimizer_states = 8 * count}));
  EXPECT_EQ(bytes_of_all({"optimizer.name=SGD"})[0].optimizer_states, 0);
}

TEST(ModelShape, SharesStatesAmongDataRanksAtStageOne) {
  const int64_t count = model_of(recipe())->parameter_count();
  const std::vector<RankBytes> whole = bytes_of_all({kDp2, "parallelism.zero_stage=0"});
  const std::vector<RankBytes> shared = bytes_of_all({kDp2, "parallelism.zero_stage=1"});
  int64_t states = 0;
  for (size_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(whole[rank].optimizer_states, 8 * count);
    EXPECT_EQ(shared[rank].weights, 4 * count);
    EXPECT_EQ(shared[rank].gradients, 4 * count);
    states += shared[rank].optimizer_states;
  }
  EXPECT_EQ(states, 8 * count);
}

TEST(ModelShape, GivesStagesTheirPartsAndTensorRanksAllGains) {
  const int64_t count = model_of(recipe())->parameter_count();
  int64_t sum = 0;
  for (const RankBytes& bytes : bytes_of_all({kPp2})) {
    sum += bytes.parameters;
  }
  EXPECT_EQ(sum, count);
  const int64_t gains = 9 * 32;
  for (const RankBytes& bytes : bytes_of_all({kTp2})) {
    EXPECT_EQ(bytes.parameters, (count - gains) / 2 + gains);
  }
}

TEST(ModelShape, CountsAGradientForEachUseOfATiedTable) {
  const int64_t table = 96 * 32;
  const int64_t count = model_of(recipe({kTied}))->parameter_count();
  const RankBytes one = bytes_of_all({kTied})[0];
  EXPECT_EQ(one.weights, 4 * count);
  EXPECT_EQ(one.gradients, 4 * (count + table));
  EXPECT_EQ(one.optimizer_states, 8 * count);

  const std::vector<RankBytes> stages = bytes_of_all({kTied, kPp2});
  EXPECT_EQ(stages[0].weights + stages[1].weights, 4 * (count + table)) << "a copy on each stage";
  EXPECT_EQ(stages[0].optimizer_states + stages[1].optimizer_states, 8 * count);
}

}  // namespace
}  // namespace brigade::loop
