// SPDX-License-Identifier: Apache-2.0
/// Weights of a Hugging Face folder into a trainer, and out of it again; what the model then says.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "parallel/collective/world.h"
#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/layouts.h"
#include "trainer/checkpoint/hugging_face_config.h"
#include "trainer/config/run_config.h"
#include "trainer/loop/trainer.h"

namespace brigade::end_to_end {

/// Settings that make a recipe's model the given one.
Settings settings_of(const config::Model& model);

/// Fills the trainer's weights, each rank reading its own boxes.
void load_hugging_face(loop::Trainer& trainer, const std::string& folder);

/// Writes whole fp32 parameters, as an Outcome holds them.
void write_hugging_face(const std::map<std::string, at::Tensor>& parameters,
                        const checkpoint::HuggingFaceConfig& config,
                        const std::string& folder);

/// A trainer whose model can be asked what it makes of a prompt.
class Asked {
 public:
  /// On each rank of the world, with the model of the folder's config.json. Not yet loaded.
  Asked(collective::World& world,
        const std::string& folder,
        int64_t sequence,
        const Settings& settings);

  loop::Trainer& trainer() { return *trainer_; }

  /// [prompt, place, vocabulary]: logarithms of the probabilities of the next token, that is, the
  /// logits but for a constant per place, which no loss and no choice depends on. Taken from losses
  /// of one trained place each. Collective.
  at::Tensor log_probabilities(const at::Tensor& prompts);

 private:
  class Probe;

  std::shared_ptr<Probe> probe_;
  std::unique_ptr<loop::Trainer> trainer_;
};

}  // namespace brigade::end_to_end
