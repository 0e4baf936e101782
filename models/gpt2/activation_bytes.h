// SPDX-License-Identifier: Apache-2.0
/// What Gpt2Stage's ops save, and what its backward works with.
#pragma once

#include "models/decoder/activation_bytes.h"
#include "models/gpt2/config.h"

namespace brigade::gpt2 {

decoder::ModelActivations activation_bytes(const Config& config,
                                           const decoder::ActivationShape& shape);

}  // namespace brigade::gpt2
