// SPDX-License-Identifier: Apache-2.0
/// Weights to begin a training with, or to convert: of a checkpoint of ours or of a Hugging Face
/// folder, with the model that they belong to.
///
///   Result<Weights> weights = open_weights(path, in_hf);
///   check_model(*weights, config.model);             // the recipe's sizes
///   check_parameters(*weights->source, facts);       // names and shapes
///   read_float32(*weights->source, name, box, out);  // my boxes
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/sharding/parameter_facts.h"
#include "trainer/checkpoint/hugging_face_config.h"
#include "trainer/checkpoint/tensor_source.h"

namespace brigade::checkpoint {

struct Weights {
  std::unique_ptr<TensorSource> source;
  HuggingFaceConfig config;
};

/// `path` is a checkpoint (".../step-100"), or with `in_hf` a folder with config.json and
/// model.safetensors.
/// Errors: those of Checkpoint::open and HuggingFaceFolder::open; kData naming the other kind where
///         `path` is one.
Result<Weights> open_weights(const std::string& path, bool in_hf);

/// Whether the weights are of the model that a recipe wants, in all that changes what it computes.
/// Errors: kUsage listing every difference with both values.
Result<void> check_model(const Weights& weights, const config::Model& wanted);

/// Whether the source has exactly the parameters that are no tied uses; an optimizer's states may
/// be there.
/// Errors: kData listing, each with the first ten and a count, parameters that are missing, tensors
///         that nobody expects, and shapes that differ.
Result<void> check_parameters(const TensorSource& source,
                              std::span<const sharding::ParameterFacts> facts);

/// F32, BF16 or F16: what weights are stored as.
bool is_weight_type(ElementType type);

/// Gives all of a tensor to `take`, row-major, as `type`: as it is stored where that is its type,
/// else through fp32. Memory: a row, or 8 MiB, whichever is larger.
/// Errors: the source's and `take`'s; kData for a type that is no number.
Result<void> read_in_pieces(TensorSource& source,
                            const std::string& name,
                            ElementType type,
                            const std::function<Result<void>(std::span<const std::byte>)>& take);

}  // namespace brigade::checkpoint
