// SPDX-License-Identifier: Apache-2.0
#include "tests/trainer/loop/recipe.h"

#include <algorithm>

#include "tests/support/small_recipe.h"

namespace brigade::loop {
namespace {

constexpr int64_t kSequence = 16;

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
  const auto key = [](const std::string& setting) { return setting.substr(0, setting.find('=')); };
  std::vector<std::string> all = settings;
  for (const char* setting : {"optimizer.name=AdamW",
                              "optimizer.lr=1e-3",
                              "optimizer.weight_decay=0.1",
                              "lr_scheduler.warmup_steps=2",
                              "training.global_batch_size=8",
                              "training.microbatch_size=2",
                              "training.max_norm=1.0",
                              "training.steps=10",
                              "training.matmul=onednn"}) {
    const bool given = std::any_of(settings.begin(), settings.end(), [&](const std::string& other) {
      return key(other) == key(setting);
    });
    if (!given) {
      all.emplace_back(setting);
    }
  }
  config::RunConfig config = testing::small_recipe(all);
  config.lr_scheduler.decay_ratio.reset();  // to the end
  return config;
}

config::RunFacts facts_of(const config::RunConfig& config) {
  return value_or_throw(config::resolve(config, config::wanted_ranks(config)));
}

std::shared_ptr<const data::TokenSource> counting_tokens(int64_t vocabulary, int64_t samples) {
  return std::make_shared<CountingTokens>(vocabulary, samples);
}

}  // namespace brigade::loop
