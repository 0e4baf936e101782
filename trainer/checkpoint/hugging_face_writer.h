// SPDX-License-Identifier: Apache-2.0
/// Writes weights as a folder that Hugging Face's transformers loads.
///
///   write_hugging_face("out/model", *checkpoint, {.model = model}, {.type = ElementType::kBF16});
///
/// config.json and model.safetensors; above a limit, shards in the order of the names and
/// model.safetensors.index.json. Tensors are pulled from their source in pieces: memory is that of
/// a row, or 8 MiB, whichever is larger.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/checkpoint/hugging_face_config.h"
#include "trainer/checkpoint/tensor_source.h"

namespace brigade::checkpoint {

/// 5 GB, decimal: huggingface_hub's own limit.
inline constexpr uint64_t kShardLimit = 5'000'000'000;

struct HuggingFaceOptions {
  std::optional<ElementType> type = {};  ///< F32, BF16 or F16; empty: each as it is stored
  uint64_t shard_limit = kShardLimit;    ///< bytes of tensors in a file; one tensor may have more
  bool overwrite = false;                ///< replace weights and config that `folder` holds
};

struct HuggingFaceWritten {
  std::vector<std::string> files;  ///< of weights
  uint64_t bytes = 0;              ///< of all tensors
  size_t tensors = 0;
};

/// Writes every tensor of `source` but an optimizer's. A new folder appears complete or not at all;
/// into one that is there (`overwrite`) the files are moved once all are complete, config.json
/// last, then weights of another save are removed; other files are left alone.
/// Errors: kUsage when `folder` holds something and `overwrite` is not set, or is a checkpoint of
///         ours; kData for a type that is neither wanted nor had; kIo; the source's.
Result<HuggingFaceWritten> write_hugging_face(const std::string& folder,
                                              TensorSource& source,
                                              const HuggingFaceConfig& config,
                                              const HuggingFaceOptions& options = {});

}  // namespace brigade::checkpoint
