// SPDX-License-Identifier: Apache-2.0
/// The Llama cases of tests/data: weights, batches, and what another implementation made of them in
/// five steps.
#include <fstream>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "parallel/tensor/buffers.h"
#include "tests/end_to_end/harness.h"
#include "trainer/checkpoint/safetensors.h"

namespace brigade::end_to_end {
namespace {

at::Tensor read_tensor(const std::string& path, const std::string& name, at::ScalarType type) {
  const checkpoint::SafetensorsFile file = value_or_throw(checkpoint::SafetensorsFile::open(path));
  const checkpoint::TensorView view = value_or_throw(file.tensor(name));
  std::vector<int64_t> shape(view.shape.begin(), view.shape.end());
  const at::Tensor out = at::empty(shape, type);
  std::copy(view.bytes.begin(), view.bytes.end(), tensor::bytes_of(out).begin());
  return out;
}

/// tokens[step, sequence, place] of a case; sample step * 12 + sequence.
class CaseTokens final : public data::TokenSource {
 public:
  CaseTokens(at::Tensor tokens, int64_t vocabulary)
      : tokens_(std::move(tokens)), vocabulary_(vocabulary) {}

  int64_t vocabulary_size() const override { return vocabulary_; }
  int64_t seq_len() const override { return tokens_.size(2) - 1; }
  int64_t sample_count() const override { return tokens_.size(0) * tokens_.size(1); }
  int64_t trained_tokens(int64_t begin, int64_t end) const override {
    return (end - begin) * seq_len();
  }
  std::string description() const override { return "the batches of a case"; }

  Result<void> read(int64_t,
                    int64_t index,
                    std::span<int64_t> tokens,
                    std::span<int64_t> targets) const override {
    const int64_t* row = tokens_.const_data_ptr<int64_t>() + index * tokens_.size(2);
    for (size_t i = 0; i < tokens.size(); ++i) {
      tokens[i] = row[i];
      targets[i] = row[i + 1];
    }
    return {};
  }

 private:
  at::Tensor tokens_;
  int64_t vocabulary_;
};

struct Case {
  const char* folder;
  std::vector<std::string> model;
  int64_t vocabulary;
};

const Case kTiny = {"llama_tiny", {"model.n_kv_heads=2"}, 96};
const Case kTiedUneven = {"llama_tied_uneven",
                          {"model.n_kv_heads=2",
                           "model.n_layers=7",
                           "model.ffn_dim=70",
                           "model.vocab_size=97",
                           "model.tie_embeddings=true"},
                          97};

struct Layout {
  const char* name;
  int64_t ranks;
  std::vector<std::string> settings;
};

std::vector<Layout> layouts() {
  const std::string replicate = "parallelism.data_parallel_replicate_degree=";
  const std::string shard = "parallelism.data_parallel_shard_degree=";
  const std::string tp2 = "parallelism.tensor_parallel_degree=2";
  const std::string pp = "parallelism.pipeline_parallel_degree=";
  return {{"one", 1, {}},
          {"one_m1", 1, {"training.microbatch_size=12"}},
          {"dp2", 2, {shard + "2"}},
          {"dp3", 3, {shard + "3"}},
          {"dp4_zero0", 4, {shard + "4", "parallelism.zero_stage=0"}},
          {"dp6", 6, {shard + "6", "training.microbatch_size=2"}},
          {"hsdp2x2", 4, {replicate + "2", shard + "2"}},
          {"tp2", 2, {tp2}},
          {"pp2", 2, {pp + "2"}},
          {"pp4_gpipe", 4, {pp + "4", "parallelism.pipeline_parallel_schedule=GPipe"}},
          {"dp2_tp2", 4, {shard + "2", tp2}},
          {"dp2_pp2", 4, {shard + "2", pp + "2"}},
          {"tp2_pp2", 4, {tp2, pp + "2"}},
          {"dp2_tp2_pp2", 8, {shard + "2", tp2, pp + "2"}}};
}

struct Recipe {
  const char* expected;
  const char* final_weights;
  std::vector<std::string> settings;
  double parameters;  // tolerance; AdamW magnifies rounding where gradients are near zero
};

const Recipe kSgd = {"sgd_lr0.1_no_clip_fp64", "final_sgd_fp64.safetensors", {}, 1e-5};
const Recipe kAdamW = {"adamw_lr3e-3_betas0.9_0.95_eps1e-8_decay0.1_on_matrices_clip1.0_fp64",
                       "final_adamw_fp64.safetensors",
                       {"optimizer.name=AdamW",
                        "optimizer.lr=3e-3",
                        "optimizer.weight_decay=0.1",
                        "training.max_norm=1.0"},
                       1e-4};

using Parameters = std::tuple<const Case*, const Recipe*, Layout>;

class IndependentTruth : public ::testing::TestWithParam<Parameters> {};

TEST_P(IndependentTruth, IsReached) {
  const auto& [truth, recipe, layout] = GetParam();
  const std::string folder = std::string(BRIGADE_TEST_DATA) + "/" + truth->folder + "/";
  Trial trial{.ranks = layout.ranks,
              .settings = truth->model,
              .weights = folder + "model.safetensors",
              .prepare = nullptr};
  trial.settings.insert(trial.settings.end(), recipe->settings.begin(), recipe->settings.end());
  trial.settings.insert(trial.settings.end(), layout.settings.begin(), layout.settings.end());
  const at::Tensor tokens = read_tensor(folder + "batches.safetensors", "tokens", at::kLong);
  trial.settings.push_back("training.seq_len=" + std::to_string(tokens.size(2) - 1));

  const Outcome found = train(trial, std::make_shared<CaseTokens>(tokens, truth->vocabulary), 5);

  std::ifstream stream(folder + "expected.json");
  const nlohmann::json expected = nlohmann::json::parse(stream).at(recipe->expected);
  for (size_t step = 0; step < 5; ++step) {
    EXPECT_NEAR(found.steps[step].loss, expected.at("loss")[step].get<double>(), 1e-5) << step;
    EXPECT_NEAR(
        found.steps[step].gradient_norm / expected.at("grad_norm")[step].get<double>(), 1.0, 1e-5)
        << step;
  }
  for (const auto& [name, value] : found.parameters) {
    const at::Tensor wanted = read_tensor(folder + recipe->final_weights, name, at::kDouble);
    EXPECT_LE((value.to(at::kDouble) - wanted).abs().max().item<double>(), recipe->parameters)
        << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Llama,
                         IndependentTruth,
                         ::testing::Combine(::testing::Values(&kTiny, &kTiedUneven),
                                            ::testing::Values(&kSgd, &kAdamW),
                                            ::testing::ValuesIn(layouts())),
                         [](const ::testing::TestParamInfo<Parameters>& test) {
                           return std::string(std::get<0>(test.param)->folder) + "_" +
                                  (std::get<1>(test.param) == &kSgd ? "sgd_" : "adamw_") +
                                  std::get<2>(test.param).name;
                         });

}  // namespace
}  // namespace brigade::end_to_end
