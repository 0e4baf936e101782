// SPDX-License-Identifier: Apache-2.0
#include "models/llama/facts.h"

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/decoder/placement_rules.h"
#include "parallel/base/text.h"

namespace brigade::llama {
namespace {

using sharding::Initializer;
using sharding::ParameterFacts;
using sharding::Shape;

Config model(int64_t layers = 4, bool tied = false) {
  return {.dim = 32,
          .n_layers = layers,
          .n_heads = 4,
          .n_kv_heads = 2,
          .ffn_dim = 70,
          .vocab_size = 97,
          .rope_theta = 10000.0,
          .norm_eps = 1e-5,
          .tie_embeddings = tied};
}

const ParameterFacts& find(const std::vector<ParameterFacts>& facts, const std::string& name) {
  for (const ParameterFacts& row : facts) {
    if (row.name == name) {
      return row;
    }
  }
  throw std::out_of_range(name);
}

TEST(LlamaFacts, NameAndShapeAsHuggingFaceDoes) {
  const std::vector<ParameterFacts> facts = stage_facts(model(1), 0, 1);
  const std::vector<std::pair<std::string, Shape>> wanted = {
      {"model.embed_tokens.weight", {97, 32}},
      {"model.layers.0.input_layernorm.weight", {32}},
      {"model.layers.0.self_attn.q_proj.weight", {32, 32}},
      {"model.layers.0.self_attn.k_proj.weight", {16, 32}},
      {"model.layers.0.self_attn.v_proj.weight", {16, 32}},
      {"model.layers.0.self_attn.o_proj.weight", {32, 32}},
      {"model.layers.0.post_attention_layernorm.weight", {32}},
      {"model.layers.0.mlp.gate_proj.weight", {70, 32}},
      {"model.layers.0.mlp.up_proj.weight", {70, 32}},
      {"model.layers.0.mlp.down_proj.weight", {32, 70}},
      {"model.norm.weight", {32}},
      {"lm_head.weight", {97, 32}}};
  ASSERT_EQ(facts.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(facts[i].name, wanted[i].first);
    EXPECT_EQ(facts[i].shape, wanted[i].second) << facts[i].name;
    EXPECT_EQ(facts[i].logical_axes.size(), facts[i].shape.size()) << facts[i].name;
  }
}

TEST(LlamaFacts, DecayMatricesOnly) {
  for (const ParameterFacts& row : stage_facts(model(), 0, 1)) {
    EXPECT_EQ(row.decayed, row.shape.size() == 2) << row.name;
  }
}

TEST(LlamaFacts, StartOutputsToTheResidualStreamSmallerWithDepth) {
  const std::vector<ParameterFacts> facts = stage_facts(model(8), 0, 1);
  EXPECT_DOUBLE_EQ(
      find(facts, "model.layers.3.self_attn.o_proj.weight").initializer.standard_deviation,
      0.02 / std::sqrt(16.0));
  EXPECT_DOUBLE_EQ(
      find(facts, "model.layers.3.mlp.down_proj.weight").initializer.standard_deviation,
      0.02 / std::sqrt(16.0));
  EXPECT_DOUBLE_EQ(
      find(facts, "model.layers.3.self_attn.q_proj.weight").initializer.standard_deviation, 0.02);
  EXPECT_EQ(find(facts, "model.norm.weight").initializer.kind, Initializer::Kind::kOnes);
}

TEST(LlamaFacts, GroupParametersInUnits) {
  const std::vector<ParameterFacts> facts = stage_facts(model(), 0, 1);
  EXPECT_EQ(find(facts, "model.embed_tokens.weight").unit, "embedding");
  EXPECT_EQ(find(facts, "model.layers.2.mlp.up_proj.weight").unit, "block.2");
  EXPECT_EQ(find(facts, "model.norm.weight").unit, "head");
  EXPECT_EQ(find(facts, "lm_head.weight").unit, "head");
}

TEST(LlamaFacts, TieTheHeadToTheEmbeddingOnWhateverStage) {
  for (const int64_t stages : {1, 2, 3}) {
    const std::vector<ParameterFacts> last = stage_facts(model(4, true), stages - 1, stages);
    EXPECT_EQ(find(last, "lm_head.weight").tied_to, "model.embed_tokens.weight");
  }
  EXPECT_EQ(find(stage_facts(model(), 0, 1), "lm_head.weight").tied_to, "");
}

TEST(LlamaFacts, R069AddUpToTheParametersOfTheModelForAnySplit) {
  for (const bool tied : {false, true}) {
    for (int64_t layers = 1; layers <= 9; ++layers) {
      for (int64_t stages = 1; stages <= std::min<int64_t>(layers, 5); ++stages) {
        int64_t count = 0;
        std::set<std::string> names;
        for (int64_t stage = 0; stage < stages; ++stage) {
          for (const ParameterFacts& row : stage_facts(model(layers, tied), stage, stages)) {
            EXPECT_TRUE(names.insert(row.name).second) << row.name << " is on two stages";
            count += row.tied_to.empty() ? sharding::element_count(row.shape) : 0;
          }
        }
        EXPECT_EQ(count, parameter_count(model(layers, tied)));
      }
    }
  }
}

TEST(LlamaFacts, PlaceEveryLogicalAxisThatIsSplit) {
  std::set<std::string> axes;
  for (const ParameterFacts& row : stage_facts(model(), 0, 1)) {
    axes.insert(row.logical_axes.begin(), row.logical_axes.end());
  }
  for (const auto& [axis, mesh_axes] : decoder::tensor_parallel_rules()) {
    EXPECT_TRUE(axes.contains(axis)) << axis << " has a rule and no parameter";
  }
}

}  // namespace
}  // namespace brigade::llama
