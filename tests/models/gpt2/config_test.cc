// SPDX-License-Identifier: Apache-2.0
#include "models/gpt2/config.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::gpt2 {
namespace {

using ::testing::HasSubstr;

Config tiny() {
  return {.dim = 24,
          .n_layers = 2,
          .n_heads = 3,
          .ffn_dim = 96,
          .vocab_size = 101,
          .n_positions = 32,
          .norm_eps = 1e-5,
          .dropout = 0.0,
          .tie_embeddings = true};
}

std::string complaint(const Config& config, int64_t tensor_ranks) {
  const Result<void> checked = check(config, tensor_ranks);
  EXPECT_FALSE(checked);
  if (checked) {
    return "";
  }
  EXPECT_EQ(checked.error().code, ErrorCode::kUsage);
  return checked.error().text;
}

TEST(Gpt2Config, CountsTheParametersOfGpt2) {
  EXPECT_EQ(parameter_count(Config()), 124'439'808);  // the model known as 124M
  Config untied;
  untied.tie_embeddings = false;
  EXPECT_EQ(parameter_count(untied) - parameter_count(Config()), 50257 * 768);
}

TEST(Gpt2Config, CountsSixOperationsPerWeightOfAProduct) {
  const Config config = tiny();
  const int64_t products = 2 * (24 * 72 + 24 * 24 + 24 * 96 + 96 * 24) + 101 * 24;
  EXPECT_EQ(flops_per_token(config, 16), 6.0 * (products + 2 * 24 * 16));
}

TEST(Gpt2Config, AcceptsDegreesThatDivideTheHeads) {
  for (const int64_t tp : {1, 3}) {
    EXPECT_TRUE(check(tiny(), tp));
  }
}

TEST(Gpt2Config, R067NamesTheTensorDegreesThatWork) {
  EXPECT_THAT(complaint(tiny(), 2), HasSubstr("3 heads cannot be split over tp=2; tp may be 1, 3"));
}

TEST(Gpt2Config, RefusesSizesThatCannotBe) {
  Config config = tiny();
  config.n_positions = 0;
  EXPECT_THAT(complaint(config, 1), HasSubstr("model.n_positions must be at least 1"));
  config = tiny();
  config.n_heads = 5;
  EXPECT_THAT(complaint(config, 1), HasSubstr("n_heads may be 1, 2, 3, 4, 6, 8, 12, 24"));
  config = tiny();
  config.dropout = 1.0;
  EXPECT_THAT(complaint(config, 1), HasSubstr("model.dropout must be at least 0 and below 1"));
}

}  // namespace
}  // namespace brigade::gpt2
