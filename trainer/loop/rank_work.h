// SPDX-License-Identifier: Apache-2.0
/// RankWork: what one rank does in a world, and with_world, which sees to it that nobody waits for
/// a rank that failed.
///
///   class Probe final : public loop::RankWork {
///     Result<void> run(collective::World& world, const data::Sources& sources) override;
///   };
///   Result<void> done = loop::with_world(config, who, std::make_unique<Probe>());
#pragma once

#include <memory>

#include "parallel/base/result.h"
#include "parallel/collective/world.h"
#include "trainer/config/run_config.h"
#include "trainer/data/sources.h"
#include "trainer/launch/rank_identity.h"

namespace brigade::loop {

class RankWork {
 public:
  virtual ~RankWork() = default;
  RankWork() = default;
  RankWork(const RankWork&) = delete;
  RankWork& operator=(const RankWork&) = delete;

  /// May throw. What communicates belongs in members, not on this function's stack: to drop a step
  /// that still has messages in flight aborts the world with words of its own, so it has to outlive
  /// the telling of the real error. `world` and `sources` outlive the work.
  virtual Result<void> run(collective::World& world, const data::Sources& sources) = 0;

  /// `error`, which ended run() here or on another rank, with the place in this work.
  virtual Error placed(Error error) const { return error; }
};

/// The world of this rank: over TCP, or alone in its process.
Result<std::unique_ptr<collective::World>> join_world(const config::RunConfig& config,
                                                      const launch::RankIdentity& who);

/// Joins the world, opens the data, runs `work`, destroys it and says goodbye. An error, also one
/// of the data, is told to all other ranks while `work` is still there, and then returned; it
/// carries the rank that failed first.
Result<void> with_world(const config::RunConfig& config,
                        const launch::RankIdentity& who,
                        std::unique_ptr<RankWork> work);

}  // namespace brigade::loop
