// SPDX-License-Identifier: Apache-2.0
/// The recipe that tests train by: a model of 4 layers and 4 key-value heads that any mesh of
/// interest can split.
///
///   const config::RunConfig config = testing::small_recipe({"optimizer.name=AdamW"});
#pragma once

#include <string>
#include <vector>

#include "trainer/config/run_config.h"

namespace brigade::testing {

/// dim 32, 4 layers, 4 heads, ffn 64, vocabulary 96; batch 12 of 16 tokens in microbatches of 1;
/// SGD with lr 0.1, no warm-up, no decay, no clipping.
extern const char* const kSmallRecipe;

/// `settings` (section.key=value, each key once) over it.
config::RunConfig small_recipe(const std::vector<std::string>& settings = {});

}  // namespace brigade::testing
