// SPDX-License-Identifier: Apache-2.0
/// One rank of a run, from joining the world to its goodbye.
#pragma once

#include <functional>
#include <memory>

#include "parallel/base/result.h"
#include "parallel/collective/world.h"
#include "trainer/config/run_config.h"
#include "trainer/data/sources.h"
#include "trainer/launch/rank_identity.h"
#include "trainer/loop/trainer.h"

namespace brigade::loop {

/// The world of this rank: over TCP, or alone in its process.
Result<std::unique_ptr<collective::World>> join_world(const config::RunConfig& config,
                                                      const launch::RankIdentity& who);

/// One rank's work in a world, with the data of its config.
using RankBody =
    std::function<Result<void>(collective::World& world, const data::Sources& sources)>;

/// Opens the data, joins the world, runs `body` and says goodbye. What `body` returns or throws is
/// told to all other ranks before it is returned; it then carries the rank that failed first.
Result<void> with_world(const config::RunConfig& config,
                        const launch::RankIdentity& who,
                        const RankBody& body);

/// Called on each rank before its first step: for programs of one's own that watch the training.
using Prepare = std::function<void(Trainer& trainer)>;

/// Trains: start block, steps, validations, summary. An error is told to all other ranks before it
/// is returned; it then carries the rank that failed first.
Result<void> run_rank(const config::RunConfig& config,
                      const launch::RankIdentity& who,
                      const Prepare& prepare = {});

}  // namespace brigade::loop
