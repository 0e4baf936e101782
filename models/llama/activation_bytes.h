// SPDX-License-Identifier: Apache-2.0
/// What LlamaStage's ops save, and what its backward works with.
#pragma once

#include "models/decoder/activation_bytes.h"
#include "models/llama/config.h"

namespace brigade::llama {

decoder::ModelActivations activation_bytes(const Config& config,
                                           const decoder::ActivationShape& shape);

}  // namespace brigade::llama
