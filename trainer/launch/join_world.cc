// SPDX-License-Identifier: Apache-2.0
#include "trainer/launch/join_world.h"

#include <cstdint>
#include <utility>

namespace brigade::launch {

Result<std::unique_ptr<collective::World>> join_world(const JoinOptions& options) {
  const Result<RankIdentity> who = identify(current_environment());
  if (!who) {
    return fail(who.error());
  }
  return join_world(*who, options);
}

Result<std::unique_ptr<collective::World>> join_world(const RankIdentity& who,
                                                      const JoinOptions& options) {
  if (who.world_size == 1) {
    return std::move(collective::in_process_worlds(1, options.timeout).front());
  }
  return collective::connect({.rank = who.rank,
                              .size = who.world_size,
                              .master_address = who.master_address,
                              .master_port = static_cast<uint16_t>(who.master_port),
                              .init_timeout = options.init_timeout,
                              .timeout = options.timeout});
}

}  // namespace brigade::launch
