// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/start_block.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/trainer/loop/recipe.h"
#include "trainer/loop/model_shape.h"

namespace brigade::loop {
namespace {

std::string block(const std::vector<std::string>& settings,
                  const std::vector<std::string>& remarks = {}) {
  const config::RunConfig config = recipe(settings);
  return start_block(config, facts_of(config), remarks);
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in:\n" << text;
}

const std::vector<std::string> kCube = {"parallelism.data_parallel_shard_degree=2",
                                        "parallelism.tensor_parallel_degree=2",
                                        "parallelism.pipeline_parallel_degree=2"};

TEST(StartBlock, PicturesWhoHoldsWhat) {
  const std::string text = block(kCube);
  expect_part(text, "pp=2 x dp_replicate=1 x dp_shard=2 x tp=2 = 8 ranks");
  expect_part(text, "stage 0  [0 1] [2 3]");
  expect_part(text, "embedding, blocks 0-1");
  expect_part(text, "stage 1  [4 5] [6 7]");
  expect_part(text, "blocks 2-3, norm and head");
}

TEST(StartBlock, GivesTheBatchEquationAndTheTokensOfAStep) {
  const std::string text = block(kCube);
  expect_part(text, facts_of(recipe(kCube)).batch_equation);
  expect_part(text, "128 tokens a step");
}

TEST(StartBlock, R069CountsTheSameParametersOnEveryMesh) {
  const std::string count = with_thousands(model_of(recipe())->parameter_count()) + " parameters";
  expect_part(block({}), count);
  expect_part(block(kCube), count);
}

TEST(StartBlock, ListsRanksThatDifferOnce) {
  const std::string text = block({"parallelism.pipeline_parallel_degree=2"});
  expect_part(text, "rank 0  ");
  expect_part(text, "rank 1  ");
  const std::string alike = block({"parallelism.tensor_parallel_degree=4"});
  expect_part(alike, "ranks 0-3");
  EXPECT_EQ(alike.find("rank 1"), std::string::npos) << alike;
}

TEST(StartBlock, SaysWhatDataRanksSendAndWhen) {
  const std::string text = block({"parallelism.data_parallel_shard_degree=2",
                                  "parallelism.zero_stage=3",
                                  "activation_checkpoint.mode=full"});
  expect_part(text, "moves    in a step, the 2 data ranks of rank 0: weights ");
  expect_part(text,
              "ZeRO stage 3, each unit gathered for use, 1 ahead; gradients reduced after each");
  expect_part(text, "blocks computed again in backward");
  EXPECT_EQ(block({}).find("moves"), std::string::npos);
}

TEST(StartBlock, EndsWithThePlanAndTheRemarks) {
  const std::string text = block({"debug.deterministic=true"}, {"matrix products: onednn"});
  expect_part(text, "ZeRO stage 0; gradients reduced once a step\n");
  expect_part(text, "no pipeline, float32, AdamW lr 0.001, 10 steps, deterministic");
  EXPECT_TRUE(text.ends_with("matrix products: onednn\n")) << text;
}

}  // namespace
}  // namespace brigade::loop
