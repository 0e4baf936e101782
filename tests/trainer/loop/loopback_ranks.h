// SPDX-License-Identifier: Apache-2.0
/// Ranks as threads that join their world by themselves, over TCP on loopback, as processes do.
#pragma once

#include <functional>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/launch/rank_identity.h"

namespace brigade::loop {

/// What `rank` returned as each rank of a world of `size`.
std::vector<Result<void>> run_loopback(
    int size, const std::function<Result<void>(const launch::RankIdentity& who)>& rank);

}  // namespace brigade::loop
