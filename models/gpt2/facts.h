// SPDX-License-Identifier: Apache-2.0
/// Which parameters the model has, and which of them a pipeline stage holds: ParameterFacts under
/// Hugging Face's names.
///
/// Matrices lie as there, input dim first. One shape differs: c_attn joins the products of queries,
/// keys and values in a tensor [in, 3 x out], whose thirds would each have to be split by heads.
/// Here its dims are [in, 3, out] (the bias: [3, out]), which is the same bytes in the same order,
/// and the last of them is split. Who reads or writes a file views it as the shape found there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/gpt2/config.h"
#include "parallel/sharding/parameter_facts.h"

namespace brigade::gpt2 {

/// All uses of parameters on one stage, in forward order. A tied head is a use of its own, tied to
/// the embedding.
std::vector<sharding::ParameterFacts> stage_facts(const Config& config,
                                                  int64_t stage,
                                                  int64_t stages);

/// "transformer.h.3.": before the names of a block's parameters.
std::string block_prefix(int64_t layer);

}  // namespace brigade::gpt2
