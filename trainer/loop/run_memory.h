// SPDX-License-Identifier: Apache-2.0
/// The memory that a run plans for each rank: its config put into the rules of memory_plan.h.
///
///   std::vector<tensor::CategoryBytes> planned = value_or_throw(planned_memory(config, facts));
#pragma once

#include <vector>

#include "parallel/base/result.h"
#include "parallel/tensor/memory_meter.h"
#include "trainer/config/resolve.h"
#include "trainer/config/run_config.h"
#include "trainer/loop/memory_plan.h"

namespace brigade::loop {

StatePlan state_plan(const config::RunConfig& config, const config::RunFacts& facts);

/// Of a rank of the world.
ActivationPlan activation_plan(const config::RunConfig& config,
                               const config::RunFacts& facts,
                               int64_t world_rank);

/// Peaks in a training step, of every rank of the world, by rank. Messages: what operations hold
/// beside tensors (collective/buffer_plan.h), for the largest unit's reduction, its sum over copies
/// and a sum over tensor ranks at once, for messages between stages and for each connection.
/// Errors: kUsage when a parameter cannot be placed.
Result<std::vector<tensor::CategoryBytes>> planned_memory(const config::RunConfig& config,
                                                          const config::RunFacts& facts);

}  // namespace brigade::loop
