// SPDX-License-Identifier: Apache-2.0
/// join_world: this process's place among the ranks, from the environment that a launcher left.
///
///   Result<std::unique_ptr<collective::World>> world = launch::join_world();
///
/// One rank where no launcher is (rank_identity.h says which ones are known). By hand, on loopback:
///
///   RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 ./program &
///   RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 ./program
#pragma once

#include <chrono>
#include <memory>

#include "parallel/base/result.h"
#include "parallel/collective/world.h"
#include "trainer/launch/rank_identity.h"

namespace brigade::launch {

struct JoinOptions {
  std::chrono::milliseconds init_timeout{300'000};  ///< for all ranks to come
  std::chrono::milliseconds timeout{100'000};       ///< of each operation
};

/// Collective: returns when all ranks have come.
/// Errors: identify()'s and collective::connect()'s.
Result<std::unique_ptr<collective::World>> join_world(const JoinOptions& options = {});
/// The same for a rank that knows who it is.
Result<std::unique_ptr<collective::World>> join_world(const RankIdentity& who,
                                                      const JoinOptions& options = {});

}  // namespace brigade::launch
