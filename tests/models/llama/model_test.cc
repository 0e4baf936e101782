// SPDX-License-Identifier: Apache-2.0
#include "models/llama/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/llama/facts.h"

namespace brigade::llama {
namespace {

const Config kSizes{.dim = 32,
                    .n_layers = 4,
                    .n_heads = 4,
                    .n_kv_heads = 2,
                    .ffn_dim = 64,
                    .vocab_size = 96,
                    .rope_theta = 10000.0,
                    .norm_eps = 1e-5,
                    .tie_embeddings = true};

TEST(LlamaModel, SaysItsSizes) {
  EXPECT_EQ(LlamaModel(kSizes).description(),
            "dim 32, 4 layers, 4 heads (2 key-value), ffn 64, vocabulary 96, tied head");
}

TEST(LlamaModel, AnswersAsTheFamilyDoes) {
  const LlamaModel model(kSizes);
  EXPECT_EQ(model.layers(), 4);
  EXPECT_EQ(model.parameter_count(), parameter_count(kSizes));
  EXPECT_EQ(model.flops_per_token(16), flops_per_token(kSizes, 16));
  EXPECT_EQ(model.stage_facts(1, 2), stage_facts(kSizes, 1, 2));
  EXPECT_TRUE(model.dropout_names().empty());
  EXPECT_TRUE(model.check(2));
  EXPECT_FALSE(model.check(4));
}

}  // namespace
}  // namespace brigade::llama
