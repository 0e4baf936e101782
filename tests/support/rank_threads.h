// SPDX-License-Identifier: Apache-2.0
/// Ranks as threads of the test: one function, run by every rank of a world.
///
///   run_ranks(4, [](collective::World& world) {
///     auto group = world.group({0, 1, 2, 3}, "all");
///     ASSERT_TRUE(group->barrier().wait());
///   });
///
/// Failure:  a rank that throws, or in which an expectation fails, aborts the world, so that nobody
///           waits for it; the first exception is thrown again from run_ranks.
/// Deadline: after 60 s the world is aborted, and soon after the test program, if ranks still hang.
/// Goodbye:  a rank whose function returns closes its world.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "parallel/collective/world.h"

namespace brigade::testing {

using RankFunction = std::function<void(collective::World&)>;

inline constexpr std::chrono::seconds kDefaultTimeout{20};  // of the world's operations

/// Over in-process links.
void run_ranks(int64_t size,
               const RankFunction& function,
               std::chrono::milliseconds timeout = kDefaultTimeout);

/// Over TCP on a free port of loopback: threads still, but every byte crosses a socket.
void run_ranks_tcp(int64_t size,
                   const RankFunction& function,
                   std::chrono::milliseconds timeout = kDefaultTimeout);

/// A port of loopback that nobody listened on a moment ago.
uint16_t free_port();

/// Over worlds made by `make`, on the rank's thread.
void run_ranks_over(int64_t size,
                    const std::function<std::unique_ptr<collective::World>(int64_t rank)>& make,
                    const RankFunction& function);

}  // namespace brigade::testing
