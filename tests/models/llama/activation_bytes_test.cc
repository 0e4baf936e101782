// SPDX-License-Identifier: Apache-2.0
#include "models/llama/activation_bytes.h"

#include <gtest/gtest.h>

#include "models/llama/model.h"
#include "tests/models/decoder/activation_check.h"

namespace brigade::llama {
namespace {

// Sizes that tp = 2 splits unevenly, and heads that share keys.
const Config kOdd{.dim = 32,
                  .n_layers = 2,
                  .n_heads = 8,
                  .n_kv_heads = 2,
                  .ffn_dim = 61,
                  .vocab_size = 95,
                  .rope_theta = 10000.0,
                  .norm_eps = 1e-5,
                  .tie_embeddings = false};

TEST(LlamaActivations, AreWhatTheOpsKeepOnOneRank) {
  testing::expect_stated_activations(LlamaModel(kOdd), {.batch = 3, .sequence = 70});
}

TEST(LlamaActivations, AreWhatTheOpsKeepOnTensorRanks) {
  testing::expect_stated_activations(LlamaModel(kOdd),
                                     {.batch = 2, .sequence = 8, .tensor_ranks = 2});
}

TEST(LlamaActivations, AreWhatTheOpsKeepWithASplitSequence) {
  testing::expect_stated_activations(
      LlamaModel(kOdd), {.batch = 2, .sequence = 9, .tensor_ranks = 2, .sequence_parallel = true});
}

TEST(LlamaActivations, AreWhatTheOpsKeepOfLongSequences) {
  testing::expect_stated_activations(LlamaModel(kOdd), {.batch = 1, .sequence = 1100});
}

TEST(LlamaActivations, AreWhatTheOpsKeepInBf16) {
  testing::expect_stated_activations(LlamaModel(kOdd),
                                     {.batch = 3, .sequence = 70, .dtype = DType::kBFloat16});
}

TEST(LlamaActivations, InputAndProductsAreLessThanAll) {
  const decoder::ModelActivations bytes = activation_bytes(kOdd, {.batch = 2, .sequence = 8});
  // Queries, keys, values, two sums of the residual stream, gate and up; 2 x 8 rows of fp32.
  EXPECT_EQ(bytes.block.products, 2 * 8 * 4 * (32 + 8 + 8 + 2 * 32 + 2 * 61));
  EXPECT_EQ(bytes.block.input, 2 * 8 * 4 * 32);
  EXPECT_LT(bytes.block.input + bytes.block.products, bytes.block.saved);
}

}  // namespace
}  // namespace brigade::llama
