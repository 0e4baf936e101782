// SPDX-License-Identifier: Apache-2.0
/// What a run prints before its first step: model, mesh, who holds what, bytes per rank, the batch
/// equation.
#pragma once

#include <string>
#include <vector>

#include "trainer/config/resolve.h"
#include "trainer/config/run_config.h"

namespace brigade::loop {

/// The block as text, several lines. `remarks` (data source, matrix products, instruction set, who
/// told the rank) come last, a line each.
std::string start_block(const config::RunConfig& config,
                        const config::RunFacts& facts,
                        const std::vector<std::string>& remarks);

}  // namespace brigade::loop
