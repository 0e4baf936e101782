// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/truth_case.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "parallel/base/text.h"
#include "parallel/tensor/buffers.h"
#include "tests/end_to_end/harness.h"
#include "trainer/checkpoint/safetensors.h"

namespace brigade::end_to_end {

const TruthRecipe kTruthSgd = {
    "sgd", "sgd_lr0.1_no_clip_fp64", "final_sgd_fp64.safetensors", {}, 1e-5, false};

const TruthRecipe kTruthAdamW = {
    "adamw",
    "adamw_lr3e-3_betas0.9_0.95_eps1e-8_decay0.1_on_matrices_clip1.0_fp64",
    "final_adamw_fp64.safetensors",
    {"optimizer.name=AdamW",
     "optimizer.lr=3e-3",
     "optimizer.weight_decay=0.1",
     "training.max_norm=1.0"},
    1e-4,
    true};

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

/// The largest difference of what is to be compared.
double difference(const TruthCase& truth,
                  const TruthRecipe& recipe,
                  const std::string& name,
                  const at::Tensor& value) {
  const std::string folder = std::string(BRIGADE_TEST_DATA) + "/" + truth.folder + "/";
  const at::Tensor wanted =
      read_tensor(folder + recipe.final_weights, name, at::kDouble).view(value.sizes());
  const auto part = [&](const at::Tensor& whole) {
    return recipe.is_adamw && truth.after_adamw != nullptr ? truth.after_adamw(name, whole) : whole;
  };
  return (part(value.to(at::kDouble)) - part(wanted)).abs().max().item<double>();
}

}  // namespace

void expect_truth(const TruthCase& truth,
                  const TruthRecipe& recipe,
                  const Degrees& degrees,
                  const Settings& settings) {
  const std::string folder = std::string(BRIGADE_TEST_DATA) + "/" + truth.folder + "/";
  const at::Tensor tokens = read_tensor(folder + "batches.safetensors", "tokens", at::kLong);
  Trial trial = trial_of(degrees,
                         truth.model + recipe.settings +
                             Settings{concat("training.seq_len=", tokens.size(2) - 1)} + settings);
  trial.weights = folder + "model.safetensors";
  trial.recipe = truth.recipe;
  constexpr size_t kSteps = 5;
  const Outcome found =
      train(trial, std::make_shared<CaseTokens>(tokens, truth.vocabulary), kSteps);

  std::ifstream stream(folder + "expected.json");
  const nlohmann::json expected = nlohmann::json::parse(stream).at(recipe.expected);
  for (size_t step = 0; step < kSteps; ++step) {
    const double norm = expected.at("grad_norm")[step].get<double>();
    EXPECT_NEAR(found.steps[step].loss, expected.at("loss")[step].get<double>(), 1e-5) << step;
    EXPECT_NEAR(found.steps[step].gradient_norm / norm, 1.0, 1e-5) << step;
  }
  for (const auto& [name, value] : found.parameters) {
    EXPECT_LE(difference(truth, recipe, name, value), recipe.parameters) << name;
  }
}

}  // namespace brigade::end_to_end
