// SPDX-License-Identifier: Apache-2.0
/// from_all: a number of each rank, known to all.
#pragma once

#include <vector>

#include "parallel/base/result.h"
#include "parallel/collective/world.h"

namespace brigade::bench {

/// By rank. Collective.
/// Errors: the communicator's.
Result<std::vector<double>> from_all(collective::World& world, double value);

}  // namespace brigade::bench
