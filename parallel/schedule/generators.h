// SPDX-License-Identifier: Apache-2.0
/// The order of forwards and backwards of each schedule: compute actions alone, no ids, no sends.
///
///   compute_row(Kind::kOneForwardOneBackward, 4, 8, 3)   // 3F0, 3B0, 3F1, 3B1, ...
///
/// One stage per rank. A new schedule is a new function here; what follows (lowering.h, validate)
/// does not know which one it sees.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel/schedule/schedule.h"

namespace brigade::schedule {

/// The compute actions of `rank`, in order. Needs 0 <= rank < ranks, microbatches >= 1.
std::vector<Action> compute_row(Kind kind, int64_t ranks, int64_t microbatches, int64_t rank);

}  // namespace brigade::schedule
