// SPDX-License-Identifier: Apache-2.0
/// What a step will send over the data axes, from the list of actions and the types alone; the
/// ledger is the second route.
///
///   const std::vector<MovedPlan> moved = value_or_throw(planned_moves(config, facts));
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/config/resolve.h"
#include "trainer/config/run_config.h"

namespace brigade::loop {

/// Bytes that the groups of one rank send together in a step: its data ranks and, for parameters
/// used by parts, its tensor ranks.
struct MovedPlan {
  int64_t weights = 0;    ///< gathered for use (ZeRO 3) or after the update (1, 2)
  int64_t gradients = 0;  ///< scattered, summed over replicas and parts, at stage 0 gathered again

  bool operator==(const MovedPlan&) const = default;
};

/// Of every rank of the world, by rank.
/// Errors: kUsage when a parameter cannot be placed or a schedule made.
Result<std::vector<MovedPlan>> planned_moves(const config::RunConfig& config,
                                             const config::RunFacts& facts);

}  // namespace brigade::loop
