// SPDX-License-Identifier: Apache-2.0
#include "models/gpt2/activation_bytes.h"

#include <gtest/gtest.h>

#include "models/gpt2/model.h"
#include "tests/models/decoder/activation_check.h"

namespace brigade::gpt2 {
namespace {

Config model_with(double dropout) {
  return {.dim = 32,
          .n_layers = 2,
          .n_heads = 4,
          .ffn_dim = 61,
          .vocab_size = 95,
          .n_positions = 1200,
          .norm_eps = 1e-5,
          .dropout = dropout,
          .tie_embeddings = false};
}

TEST(Gpt2Activations, AreWhatTheOpsKeepOnOneRank) {
  testing::expect_stated_activations(Gpt2Model(model_with(0.0)), {.batch = 3, .sequence = 70});
}

TEST(Gpt2Activations, AreWhatTheOpsKeepWithDropout) {
  testing::expect_stated_activations(Gpt2Model(model_with(0.1)), {.batch = 3, .sequence = 70});
}

TEST(Gpt2Activations, AreWhatTheOpsKeepInBf16) {
  testing::expect_stated_activations(Gpt2Model(model_with(0.0)),
                                     {.batch = 3, .sequence = 70, .dtype = DType::kBFloat16});
}

TEST(Gpt2Activations, AreWhatTheOpsKeepOnTensorRanks) {
  testing::expect_stated_activations(Gpt2Model(model_with(0.1)),
                                     {.batch = 2, .sequence = 8, .tensor_ranks = 2});
}

TEST(Gpt2Activations, AreWhatTheOpsKeepWithASplitSequence) {
  testing::expect_stated_activations(
      Gpt2Model(model_with(0.1)),
      {.batch = 2, .sequence = 9, .tensor_ranks = 2, .sequence_parallel = true});
}

TEST(Gpt2Activations, AreWhatTheOpsKeepOfLongSequences) {
  testing::expect_stated_activations(Gpt2Model(model_with(0.0)), {.batch = 1, .sequence = 1100});
}

}  // namespace
}  // namespace brigade::gpt2
