// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/hugging_face_io.h"

#include <cstring>
#include <utility>

#include <ATen/ATen.h>

#include "parallel/base/text.h"
#include "parallel/tensor/buffers.h"
#include "trainer/checkpoint/hugging_face_folder.h"
#include "trainer/checkpoint/hugging_face_writer.h"
#include "trainer/checkpoint/tensor_source.h"
#include "trainer/checkpoint/weights.h"
#include "trainer/config/flat.h"
#include "trainer/config/load.h"

namespace brigade::end_to_end {
namespace {

/// Whole fp32 tensors in memory.
class MemorySource final : public checkpoint::TensorSource {
 public:
  explicit MemorySource(const std::map<std::string, at::Tensor>& parameters)
      : parameters_(parameters) {
    for (const auto& [name, value] : parameters) {
      tensors_[name] = {checkpoint::ElementType::kF32, value.sizes().vec()};
    }
  }

  const std::string& path() const override { return path_; }
  const checkpoint::SourceTensors& tensors() const override { return tensors_; }
  uint64_t bytes_read() const override { return 0; }

  Result<void> read(std::string_view name,
                    const sharding::Box& box,
                    std::span<std::byte> out) override {
    at::Tensor part = parameters_.at(std::string(name));
    for (size_t dim = 0; dim < box.dims.size(); ++dim) {
      part = part.narrow(static_cast<int64_t>(dim), box.dims[dim].begin, box.dims[dim].size());
    }
    part = part.contiguous();
    std::memcpy(out.data(), part.const_data_ptr(), out.size());
    return {};
  }

 private:
  const std::map<std::string, at::Tensor>& parameters_;
  checkpoint::SourceTensors tensors_;
  std::string path_ = "memory";
};

config::RunConfig recipe_of(const config::Model& model,
                            int64_t sequence,
                            const Settings& settings) {
  const char* text = model.name == "gpt2" ? kGpt2Recipe : testing::kSmallRecipe;
  return value_or_throw(config::load_text(
      text,
      "recipe",
      settings_of(model) + Settings{concat("training.seq_len=", sequence)} + settings));
}

}  // namespace

Settings settings_of(const config::Model& model) {
  config::RunConfig config;
  config.model = model;
  Settings settings;
  for (const auto& [key, value] : config::flat(config)) {
    if (key.starts_with("model.")) {
      settings.push_back(concat(key, '=', value));
    }
  }
  return settings;
}

void load_hugging_face(loop::Trainer& trainer, const std::string& folder) {
  const checkpoint::Weights weights = value_or_throw(checkpoint::open_weights(folder, true));
  value_or_throw(trainer.parameters().load(
      [&](const sharding::ParameterFacts& facts, const sharding::Box& box, at::Tensor& out) {
        const std::string& name = facts.tied_to.empty() ? facts.name : facts.tied_to;
        return checkpoint::read_float32(
            *weights.source,
            name,
            box,
            {out.mutable_data_ptr<float>(), static_cast<size_t>(out.numel())});
      }));
  value_or_throw(trainer.parameters().gather());
}

void write_hugging_face(const std::map<std::string, at::Tensor>& parameters,
                        const checkpoint::HuggingFaceConfig& config,
                        const std::string& folder) {
  MemorySource source(parameters);
  value_or_throw(checkpoint::write_hugging_face(folder, source, config));
}

/// One sample: a prompt of which one place has a target.
class Asked::Probe final : public data::TokenSource {
 public:
  Probe(int64_t vocabulary, int64_t sequence) : vocabulary_(vocabulary), sequence_(sequence) {}

  void ask(const at::Tensor& prompt, int64_t place, int64_t target) {
    prompt_ = prompt;
    place_ = place;
    target_ = target;
  }

  int64_t vocabulary_size() const override { return vocabulary_; }
  int64_t seq_len() const override { return sequence_; }
  int64_t sample_count() const override { return 1; }
  int64_t trained_tokens(int64_t begin, int64_t end) const override { return end - begin; }
  std::string description() const override { return "a prompt"; }

  Result<void> read(int64_t,
                    int64_t,
                    std::span<int64_t> tokens,
                    std::span<int64_t> targets) const override {
    for (int64_t i = 0; i < sequence_; ++i) {
      tokens[static_cast<size_t>(i)] = prompt_[i].item<int64_t>();
      targets[static_cast<size_t>(i)] = i == place_ ? target_ : data::kNotTrained;
    }
    return {};
  }

 private:
  int64_t vocabulary_;
  int64_t sequence_;
  at::Tensor prompt_;
  int64_t place_ = 0;
  int64_t target_ = 0;
};

Asked::Asked(collective::World& world,
             const std::string& folder,
             int64_t sequence,
             const Settings& settings) {
  const auto source = value_or_throw(checkpoint::HuggingFaceFolder::open(folder));
  const config::Model& model = source->config().model;
  probe_ = std::make_shared<Probe>(model.vocab_size, sequence);
  trainer_ = value_or_throw(
      loop::Trainer::create(world,
                            {.config = recipe_of(model, sequence, settings),
                             .training = random_tokens(model.vocab_size, sequence, 10),
                             .validation = probe_}));
}

at::Tensor Asked::log_probabilities(const at::Tensor& prompts) {
  const int64_t vocabulary = probe_->vocabulary_size();
  const at::Tensor out = at::empty({prompts.size(0), prompts.size(1), vocabulary}, at::kDouble);
  for (int64_t row = 0; row < prompts.size(0); ++row) {
    for (int64_t place = 0; place < prompts.size(1); ++place) {
      for (int64_t token = 0; token < vocabulary; ++token) {
        probe_->ask(prompts[row], place, token);
        out.index_put_({at::tensor(row), at::tensor(place), at::tensor(token)},
                       at::tensor(-value_or_throw(trainer_->validate()).loss, at::kDouble));
      }
    }
  }
  return out;
}

}  // namespace brigade::end_to_end
