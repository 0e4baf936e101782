// SPDX-License-Identifier: Apache-2.0
/// Which parameters the model has, and which of them a pipeline stage holds: ParameterFacts under
/// Hugging Face's names.
#pragma once

#include <cstdint>
#include <vector>

#include "models/llama/config.h"
#include "parallel/sharding/parameter_facts.h"

namespace brigade::llama {

/// All uses of parameters on one stage, in forward order. A tied head is a use of its own, tied_to
/// the embedding.
std::vector<sharding::ParameterFacts> stage_facts(const Config& config,
                                                  int64_t stage,
                                                  int64_t stages);

}  // namespace brigade::llama
