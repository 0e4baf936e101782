// SPDX-License-Identifier: Apache-2.0
/// The config.json of Hugging Face's transformers as our model's sizes, and back.
///
///   Result<HuggingFaceConfig> config = parse_hugging_face_config(text, "model/config.json");
///   config->model.dim
///
/// Families: llama (LlamaForCausalLM) and gpt2 (GPT2LMHeadModel). Fields that change what a model
/// computes, and that are not had here, are refused by name, all in one message; other fields
/// (token
/// ids, generation, caches) are passed over. Rotary base: `rope_parameters` before `rope_theta`
/// before 10000, as in transformers 5; both are written, as are `dtype` and `torch_dtype`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/checkpoint/element_type.h"
#include "trainer/config/run_config.h"

namespace brigade::checkpoint {

inline constexpr const char* kHuggingFaceConfigName = "config.json";

struct HuggingFaceConfig {
  config::Model model;
  /// The longest sequence, where a table does not say it (GPT-2's does): max_position_embeddings.
  int64_t max_positions = 2048;
  /// What is not followed though it says something, a line each: dropout of attention, say.
  std::vector<std::string> notes;
};

/// `name` stands in front of every message.
/// Errors: kData naming each field, what was found and what is accepted.
Result<HuggingFaceConfig> parse_hugging_face_config(std::string_view text, const std::string& name);

/// The file's text. `type` is that of the weights: F32, BF16 or F16.
std::string hugging_face_config(const HuggingFaceConfig& config, ElementType type);

/// What differs between the model that weights belong to and the one wanted, of all that changes
/// what is computed: "model.dim: 32 in PLACE, 48 wanted"; empty where nothing does.
std::vector<std::string> model_differences(const config::Model& found,
                                           const std::string& place,
                                           const config::Model& wanted);

}  // namespace brigade::checkpoint
