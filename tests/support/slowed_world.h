// SPDX-License-Identifier: Apache-2.0
/// Worlds whose bytes take a set time, for tests of what that time is called.
///
///   run_ranks_slowed(2, {.latency = 10ms, .bytes_per_s = 40e6}, [](World& world) { ... });
///
/// An operation is done latency + bytes / bandwidth after its last member posted it (of messages,
/// the receive: after its send was posted), and never before it would be otherwise. Bytes are all
/// of the operation's; transfers at the same time do not slow each other. Sends, groups of one and
/// failures are not slowed, and nothing by more than a second.
#pragma once

#include <chrono>
#include <cstdint>

#include "tests/support/rank_threads.h"

namespace brigade::testing {

struct LinkSpeed {
  std::chrono::nanoseconds latency{0};
  double bytes_per_s = 1e12;

  std::chrono::nanoseconds time_of(int64_t bytes) const;
};

/// As run_ranks().
void run_ranks_slowed(int64_t size, const LinkSpeed& speed, const RankFunction& function);

}  // namespace brigade::testing
