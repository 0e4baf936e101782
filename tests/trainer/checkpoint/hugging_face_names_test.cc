// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/hugging_face_names.h"

#include <gtest/gtest.h>

namespace brigade::checkpoint {
namespace {

TEST(HuggingFaceNames, AcceptsGpt2WithAndWithoutItsPrefix) {
  EXPECT_EQ(name_from_hugging_face("gpt2", "h.0.ln_1.weight"), "transformer.h.0.ln_1.weight");
  EXPECT_EQ(name_from_hugging_face("gpt2", "transformer.wte.weight"), "transformer.wte.weight");
  EXPECT_EQ(name_from_hugging_face("gpt2", "lm_head.weight"), "lm_head.weight");
  EXPECT_EQ(name_from_hugging_face("llama3", "model.norm.weight"), "model.norm.weight");
}

TEST(HuggingFaceNames, PassesOverBuffers) {
  EXPECT_FALSE(name_from_hugging_face("gpt2", "h.3.attn.bias"));
  EXPECT_FALSE(name_from_hugging_face("gpt2", "transformer.h.3.attn.masked_bias"));
  EXPECT_TRUE(name_from_hugging_face("gpt2", "h.3.attn.c_attn.bias"));
  EXPECT_TRUE(name_from_hugging_face("gpt2", "h.3.attn.c_proj.bias"));
  EXPECT_FALSE(name_from_hugging_face("llama3", "model.layers.0.self_attn.rotary_emb.inv_freq"));
}

TEST(HuggingFaceNames, SplitsAndJoinsGpt2sFusedProjection) {
  const std::string weight = "transformer.h.0.attn.c_attn.weight";
  const std::string bias = "transformer.h.0.attn.c_attn.bias";
  EXPECT_EQ(shape_from_hugging_face(weight, {24, 72}), (sharding::Shape{24, 3, 24}));
  EXPECT_EQ(shape_from_hugging_face(bias, {72}), (sharding::Shape{3, 24}));
  EXPECT_EQ(shape_in_hugging_face(weight, {24, 3, 24}), (sharding::Shape{24, 72}));
  EXPECT_EQ(shape_in_hugging_face(bias, {3, 24}), (sharding::Shape{72}));
  EXPECT_EQ(shape_from_hugging_face(bias, {70}), (sharding::Shape{70}));
  EXPECT_EQ(shape_from_hugging_face(bias, {}), sharding::Shape());
  const std::string other = "transformer.h.0.attn.c_proj.weight";
  EXPECT_EQ(shape_from_hugging_face(other, {24, 24}), (sharding::Shape{24, 24}));
  EXPECT_EQ(shape_in_hugging_face(other, {24, 24}), (sharding::Shape{24, 24}));
}

TEST(HuggingFaceNames, KnowsMetasNames) {
  EXPECT_TRUE(is_metas_name("layers.0.attention.wq.weight"));
  EXPECT_TRUE(is_metas_name("tok_embeddings.weight"));
  EXPECT_FALSE(is_metas_name("model.layers.0.self_attn.q_proj.weight"));
}

}  // namespace
}  // namespace brigade::checkpoint
