// SPDX-License-Identifier: Apache-2.0
/// Whether a run may go on from a checkpoint, and what will be different when it does.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/config/resolve.h"
#include "trainer/config/run_config.h"
#include "trainer/data/token_source.h"

namespace brigade::loop {

/// What the recipe does not say and a checkpoint of this run writes down: "global_batch", "data",
/// "data_fingerprint".
/// Errors: the source's.
Result<std::map<std::string, std::string>> resume_facts(const config::RunFacts& facts,
                                                        const data::TokenSource& training);

/// Whether what must not change is as it was; `facts` are resume_facts() of this run.
/// Errors: kUsage listing each change with both values and the word by which
///         checkpoint.allow_changes would allow it, if any does.
Result<void> check_resumable(const checkpoint::Manifest& manifest,
                             const config::RunConfig& config,
                             const std::map<std::string, std::string>& facts);

/// A line for each group of settings that change the curve from here on: "learning rate of step 7:
/// 0.0004 by the checkpoint's recipe, 0.0006 by this one". Empty when all is as it was.
std::vector<std::string> resume_remarks(const checkpoint::Manifest& manifest,
                                        const config::RunConfig& config);

}  // namespace brigade::loop
