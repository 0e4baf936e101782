// SPDX-License-Identifier: Apache-2.0
/// Weights from elsewhere as a checkpoint of ours: of the model alone, before any step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "parallel/base/result.h"
#include "trainer/checkpoint/hugging_face_config.h"
#include "trainer/checkpoint/tensor_source.h"

namespace brigade::convert {

struct CheckpointOptions {
  /// F32, BF16 or F16; empty: each as it is stored.
  std::optional<checkpoint::ElementType> type = {};
  bool overwrite = false;  ///< replace a checkpoint of that name
  /// Tensors are gathered in memory up to this many bytes, or one of them, and written as a file.
  uint64_t file_limit = 256 << 20;
};

struct CheckpointWritten {
  size_t files = 0;
  size_t tensors = 0;
  uint64_t bytes = 0;
};

/// Writes every tensor of `source` but an optimizer's, and the model's keys as the recipe. The
/// folder appears complete or not at all.
/// Errors: kUsage when `folder` holds something and `overwrite` is not set, or what it holds is not
///         a checkpoint alone; kData for a type that is neither wanted nor had; kIo; the source's.
Result<CheckpointWritten> write_model_checkpoint(const std::string& folder,
                                                 checkpoint::TensorSource& source,
                                                 const checkpoint::HuggingFaceConfig& config,
                                                 const CheckpointOptions& options = {});

}  // namespace brigade::convert
