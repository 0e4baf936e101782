// SPDX-License-Identifier: Apache-2.0
/// model.safetensors.index.json: which file holds which tensor.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "parallel/base/result.h"

namespace brigade::checkpoint {

inline constexpr const char* kIndexName = "model.safetensors.index.json";

/// Tensor to file name. What `metadata` says is not believed: in the wild `total_size` is one of
/// two sums.
/// Errors: kData naming `name` for what is no index, and for file names that could lead out of its
///         folder.
Result<std::map<std::string, std::string>> parse_hugging_face_index(std::string_view text,
                                                                    const std::string& name);

/// The index file's text; `total_size` is the tensors' bytes.
std::string hugging_face_index(const std::map<std::string, std::string>& weight_map,
                               uint64_t total_size);

/// "model.safetensors" alone, else "model-00002-of-00003.safetensors" for shard 1 of 3.
std::string hugging_face_shard_name(size_t shard, size_t shards);

/// Whether a file has the name of weights or of an index, as the writer calls them.
bool is_hugging_face_weights_name(std::string_view name);

}  // namespace brigade::checkpoint
