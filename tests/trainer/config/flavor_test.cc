// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/flavor.h"

#include <gtest/gtest.h>

#include "parallel/base/check.h"

namespace brigade::config {
namespace {

void expect_sizes(const char* name, int64_t dim, int64_t layers, int64_t heads, int64_t ffn) {
  const Model model = flavor("llama3", name);
  EXPECT_EQ(model.flavor, name);
  EXPECT_EQ(model.dim, dim);
  EXPECT_EQ(model.n_layers, layers);
  EXPECT_EQ(model.n_heads, heads);
  EXPECT_EQ(model.n_kv_heads, heads);
  EXPECT_EQ(model.ffn_dim, ffn);
  EXPECT_EQ(model.vocab_size, 256);
}

TEST(Flavor, HasTheSizesOfItsName) {
  expect_sizes("debugmodel", 256, 6, 16, 768);
  expect_sizes("tiny", 128, 4, 4, 384);
  expect_sizes("small", 384, 6, 6, 1024);
  expect_sizes("base", 768, 12, 12, 2048);
}

TEST(Flavor, WidensTheFeedForwardOfGpt2AndTiesItsHead) {
  for (const char* name : {"debugmodel", "tiny", "small", "base"}) {
    const Model model = flavor("gpt2", name);
    EXPECT_EQ(model.name, "gpt2");
    EXPECT_EQ(model.dim, flavor("llama3", name).dim);
    EXPECT_EQ(model.ffn_dim, 4 * model.dim);
    EXPECT_TRUE(model.tie_embeddings);
  }
}

TEST(Flavor, IsOnlyWhatTheKeyTableAccepts) {
  EXPECT_THROW(flavor("llama3", "8B"), CheckFailure);
}

}  // namespace
}  // namespace brigade::config
