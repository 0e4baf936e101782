// SPDX-License-Identifier: Apache-2.0
/// The recipe of the loop's tests, and data whose targets are all trained.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainer/config/resolve.h"
#include "trainer/config/run_config.h"
#include "trainer/data/token_source.h"

namespace brigade::loop {

/// testing::small_recipe with AdamW, warm-up, clipping and batch 8 in microbatches of 2; `settings`
/// over it.
config::RunConfig recipe(const std::vector<std::string>& settings = {});

/// recipe(settings) on the world that its degrees ask for.
config::RunFacts facts_of(const config::RunConfig& config);

/// Sample i is (i * 31 + j * 7) mod vocabulary, j = 0, 1, ...
std::shared_ptr<const data::TokenSource> counting_tokens(int64_t vocabulary, int64_t samples);

}  // namespace brigade::loop
