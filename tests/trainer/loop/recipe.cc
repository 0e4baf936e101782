// SPDX-License-Identifier: Apache-2.0
#include "tests/trainer/loop/recipe.h"

#include "trainer/config/load.h"

namespace brigade::loop {
namespace {

constexpr int64_t kSequence = 16;

const char* const kRecipe = R"(
[model]
dim = 32
n_layers = 4
n_heads = 4
n_kv_heads = 4
ffn_dim = 64
vocab_size = 96
[optimizer]
name = "AdamW"
lr = 1e-3
[lr_scheduler]
warmup_steps = 2
[training]
dataset = "synthetic"
seq_len = 16
global_batch_size = 8
microbatch_size = 2
steps = 10
matmul = "onednn"
[parallelism]
data_parallel_shard_degree = 1
)";

class CountingTokens final : public data::TokenSource {
 public:
  CountingTokens(int64_t vocabulary, int64_t samples)
      : vocabulary_(vocabulary), samples_(samples) {}

  int64_t vocabulary_size() const override { return vocabulary_; }
  int64_t seq_len() const override { return kSequence; }
  int64_t sample_count() const override { return samples_; }
  int64_t trained_tokens(int64_t begin, int64_t end) const override {
    return (end - begin) * kSequence;
  }
  std::string description() const override { return "counting tokens"; }

  Result<void> read(int64_t,
                    int64_t index,
                    std::span<int64_t> tokens,
                    std::span<int64_t> targets) const override {
    for (int64_t j = 0; j < kSequence; ++j) {
      tokens[static_cast<size_t>(j)] = (index * 31 + j * 7) % vocabulary_;
      targets[static_cast<size_t>(j)] = (index * 31 + (j + 1) * 7) % vocabulary_;
    }
    return {};
  }

 private:
  int64_t vocabulary_;
  int64_t samples_;
};

}  // namespace

config::RunConfig recipe(const std::vector<std::string>& settings) {
  return value_or_throw(config::load_text(kRecipe, "recipe", settings));
}

config::RunFacts facts_of(const config::RunConfig& config) {
  return value_or_throw(config::resolve(config, config::wanted_ranks(config)));
}

std::shared_ptr<const data::TokenSource> counting_tokens(int64_t vocabulary, int64_t samples) {
  return std::make_shared<CountingTokens>(vocabulary, samples);
}

}  // namespace brigade::loop
