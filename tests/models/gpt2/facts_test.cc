// SPDX-License-Identifier: Apache-2.0
#include "models/gpt2/facts.h"

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "models/decoder/placement_rules.h"

namespace brigade::gpt2 {
namespace {

using sharding::Initializer;
using sharding::ParameterFacts;
using sharding::Shape;

Config model(int64_t layers = 2, bool tied = true) {
  return {.dim = 24,
          .n_layers = layers,
          .n_heads = 3,
          .ffn_dim = 96,
          .vocab_size = 101,
          .n_positions = 32,
          .norm_eps = 1e-5,
          .dropout = 0.0,
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

TEST(Gpt2Facts, NameAndShapeAsHuggingFaceDoesButForTheThirdsOfCAttn) {
  const std::vector<ParameterFacts> facts = stage_facts(model(1), 0, 1);
  const std::vector<std::pair<std::string, Shape>> wanted = {
      {"transformer.wte.weight", {101, 24}},
      {"transformer.wpe.weight", {32, 24}},
      {"transformer.h.0.ln_1.weight", {24}},
      {"transformer.h.0.ln_1.bias", {24}},
      {"transformer.h.0.attn.c_attn.weight", {24, 3, 24}},  // there [24, 72]
      {"transformer.h.0.attn.c_attn.bias", {3, 24}},        // there [72]
      {"transformer.h.0.attn.c_proj.weight", {24, 24}},
      {"transformer.h.0.attn.c_proj.bias", {24}},
      {"transformer.h.0.ln_2.weight", {24}},
      {"transformer.h.0.ln_2.bias", {24}},
      {"transformer.h.0.mlp.c_fc.weight", {24, 96}},
      {"transformer.h.0.mlp.c_fc.bias", {96}},
      {"transformer.h.0.mlp.c_proj.weight", {96, 24}},
      {"transformer.h.0.mlp.c_proj.bias", {24}},
      {"transformer.ln_f.weight", {24}},
      {"transformer.ln_f.bias", {24}},
      {"lm_head.weight", {101, 24}}};
  ASSERT_EQ(facts.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(facts[i].name, wanted[i].first);
    EXPECT_EQ(facts[i].shape, wanted[i].second) << facts[i].name;
    EXPECT_EQ(facts[i].logical_axes.size(), facts[i].shape.size()) << facts[i].name;
  }
}

TEST(Gpt2Facts, DecayNoNormAndNoBias) {
  for (const ParameterFacts& row : stage_facts(model(), 0, 1)) {
    const bool is_matrix =
        row.name.ends_with(".weight") && row.name.find("ln_") == std::string::npos;
    EXPECT_EQ(row.decayed, is_matrix) << row.name;
    EXPECT_EQ(row.initializer.kind == Initializer::Kind::kZeros, row.name.ends_with(".bias"))
        << row.name;
  }
}

TEST(Gpt2Facts, StartOutputsToTheResidualStreamSmallerWithDepth) {
  const std::vector<ParameterFacts> facts = stage_facts(model(8), 0, 1);
  for (const char* name : {"attn.c_proj.weight", "mlp.c_proj.weight"}) {
    EXPECT_DOUBLE_EQ(find(facts, block_prefix(3) + name).initializer.standard_deviation,
                     0.02 / std::sqrt(16.0));
  }
  EXPECT_DOUBLE_EQ(find(facts, block_prefix(3) + "mlp.c_fc.weight").initializer.standard_deviation,
                   0.02);
}

TEST(Gpt2Facts, TieTheHeadToTheEmbeddingOnWhateverStage) {
  for (const int64_t stages : {1, 2}) {
    EXPECT_EQ(find(stage_facts(model(), stages - 1, stages), "lm_head.weight").tied_to,
              "transformer.wte.weight");
  }
  EXPECT_EQ(find(stage_facts(model(2, false), 0, 1), "lm_head.weight").tied_to, "");
}

TEST(Gpt2Facts, R069AddUpToTheParametersOfTheModelForAnySplit) {
  for (const bool tied : {false, true}) {
    for (int64_t layers = 1; layers <= 5; ++layers) {
      for (int64_t stages = 1; stages <= layers; ++stages) {
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

TEST(Gpt2Facts, SplitOrUseByPartsWhatTheRulesSay) {
  // Each parameter is split over tensor ranks, or acts on the residual stream; nothing is both, and
  // nothing is forgotten, which would keep tensor ranks apart with sequence parallelism.
  const auto has = [](const zero::AxisRules& rules, const ParameterFacts& row) {
    for (const std::string& axis : row.logical_axes) {
      if (rules.contains(axis)) {
        return true;
      }
    }
    return false;
  };
  for (const ParameterFacts& row : stage_facts(model(), 0, 1)) {
    EXPECT_NE(has(decoder::tensor_parallel_rules(), row),
              has(decoder::sequence_parallel_rules(), row))
        << row.name;
  }
}

}  // namespace
}  // namespace brigade::gpt2
