// SPDX-License-Identifier: Apache-2.0
#include "models/gpt2/model.h"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/gpt2/facts.h"

namespace brigade::gpt2 {
namespace {

const Config kSizes{.dim = 24,
                    .n_layers = 2,
                    .n_heads = 3,
                    .ffn_dim = 96,
                    .vocab_size = 101,
                    .n_positions = 32,
                    .norm_eps = 1e-5,
                    .dropout = 0.1,
                    .tie_embeddings = true};

TEST(Gpt2Model, SaysItsSizes) {
  EXPECT_EQ(Gpt2Model(kSizes).description(),
            "dim 24, 2 layers, 3 heads, ffn 96, vocabulary 101, 32 positions, tied head, dropout "
            "0.1");
}

TEST(Gpt2Model, AnswersAsTheFamilyDoes) {
  const Gpt2Model model(kSizes);
  EXPECT_EQ(model.layers(), 2);
  EXPECT_EQ(model.parameter_count(), parameter_count(kSizes));
  EXPECT_EQ(model.flops_per_token(16), flops_per_token(kSizes, 16));
  EXPECT_EQ(model.stage_facts(1, 2), stage_facts(kSizes, 1, 2));
  EXPECT_TRUE(model.check(3));
  EXPECT_FALSE(model.check(2));
}

TEST(Gpt2Model, NamesEachPlaceThatDrops) {
  const std::vector<std::string> names = Gpt2Model(kSizes).dropout_names();
  EXPECT_THAT(names,
              ::testing::ElementsAre("transformer.drop",
                                     "transformer.h.0.attn.resid_dropout",
                                     "transformer.h.0.mlp.dropout",
                                     "transformer.h.1.attn.resid_dropout",
                                     "transformer.h.1.mlp.dropout"));
  Config none = kSizes;
  none.dropout = 0.0;
  EXPECT_TRUE(Gpt2Model(none).dropout_names().empty());
}

}  // namespace
}  // namespace brigade::gpt2
