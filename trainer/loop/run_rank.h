// SPDX-License-Identifier: Apache-2.0
/// One rank of a run: its training, from joining the world to its goodbye.
#pragma once

#include <functional>

#include "parallel/base/result.h"
#include "trainer/config/run_config.h"
#include "trainer/launch/exit_code.h"
#include "trainer/launch/rank_identity.h"
#include "trainer/loop/trainer.h"

namespace brigade::loop {

/// Called on each rank before its first step: for programs of one's own that watch the training.
using Prepare = std::function<void(Trainer& trainer)>;

/// Trains: start block, steps, validations, summary. An error is told to all other ranks before it
/// is returned; it then carries the rank that failed first.
Result<launch::RunEnd> run_rank(const config::RunConfig& config,
                                const launch::RankIdentity& who,
                                const Prepare& prepare = {});

}  // namespace brigade::loop
