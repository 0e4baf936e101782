// SPDX-License-Identifier: Apache-2.0
#include "models/llama/config.h"

#include <string>

#include <gtest/gtest.h>

namespace brigade::llama {
namespace {

/// Model L of the field reports.
Config tiny() {
  return {.dim = 32,
          .n_layers = 4,
          .n_heads = 4,
          .n_kv_heads = 2,
          .ffn_dim = 64,
          .vocab_size = 96,
          .rope_theta = 10000.0,
          .norm_eps = 1e-5,
          .tie_embeddings = false};
}

std::string refusal(const Config& config, int64_t tensor_ranks = 1) {
  const Result<void> checked = check(config, tensor_ranks);
  EXPECT_FALSE(checked);
  if (checked) {
    return "";
  }
  EXPECT_EQ(checked.error().code, ErrorCode::kUsage);
  return checked.error().text;
}

TEST(LlamaConfig, AcceptsHeadsThatDivideOverTensorRanks) {
  EXPECT_TRUE(check(tiny(), 1));
  EXPECT_TRUE(check(tiny(), 2));
}

TEST(LlamaConfig, NamesTheKeyOfASizeBelowOne) {
  Config config = tiny();
  config.ffn_dim = 0;
  EXPECT_EQ(refusal(config), "model.ffn_dim must be at least 1, found 0");
  config = tiny();
  config.n_kv_heads = -1;
  EXPECT_EQ(refusal(config), "model.n_kv_heads must be at least 1, found -1");
}

TEST(LlamaConfig, RefusesHeadsThatDoNotDivideTheWidthAndListsThoseThatDo) {
  Config config = tiny();
  config.n_heads = 5;
  EXPECT_EQ(refusal(config),
            "model.dim = 32 does not divide into model.n_heads = 5; n_heads may be 1, 2, 4, 8, 16, "
            "32");
}

TEST(LlamaConfig, RefusesAnOddHeadSize) {
  Config config = tiny();
  config.dim = 36;
  EXPECT_NE(refusal(config).find("36 / 4 = 9"), std::string::npos) << refusal(config);
}

TEST(LlamaConfig, RefusesQueryHeadsThatAreNoMultipleOfKeyValueHeads) {
  Config config = tiny();
  config.n_kv_heads = 3;
  EXPECT_EQ(refusal(config),
            "model.n_heads = 4 is no multiple of model.n_kv_heads = 3; n_kv_heads may be 1, 2, 4");
}

TEST(LlamaConfig, R067NamesTheTensorDegreesThatWork) {
  EXPECT_EQ(refusal(tiny(), 4), "2 key-value heads cannot be split over tp=4; tp may be 1, 2");
  EXPECT_EQ(refusal(tiny(), 3), "4 query heads cannot be split over tp=3; tp may be 1, 2");
}

TEST(LlamaConfig, CountsParameters) {
  // 39,936 in matrices with the head, 96 x 32 in the embedding, 9 gains of 32.
  EXPECT_EQ(parameter_count(tiny()), 39936 + 96 * 32 + 9 * 32);
  Config tied = tiny();
  tied.tie_embeddings = true;
  EXPECT_EQ(parameter_count(tied), 39936 + 9 * 32);
}

TEST(LlamaConfig, R096CountsFlopsOfMatricesAndCausalAttention) {
  EXPECT_EQ(flops_per_token(tiny(), 16), 6 * 39936 + 12 * 4 * 32 * 16 / 2);
  Config tied = tiny();
  tied.tie_embeddings = true;
  EXPECT_EQ(flops_per_token(tied, 16), flops_per_token(tiny(), 16)) << "a tied head multiplies too";
}

}  // namespace
}  // namespace brigade::llama
