// SPDX-License-Identifier: Apache-2.0
/// Rendezvous: how ranks that are processes find each other and connect pairwise.
///
///   Result<std::unique_ptr<Endpoint>> endpoint = meet({.rank = 1, .size = 2, .port = 29500});
///
/// Rank 0 listens; every other rank dials it, says who it is and where it listens itself, and is
/// told where all listen. Then the higher rank of each pair dials the lower one. A rank listens on
/// the address from which it reached rank 0, so that loopback stays on loopback. Until a stranger
/// has said hello it costs one frame of memory and is dropped after a few seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "parallel/base/result.h"
#include "parallel/transport/endpoint.h"

namespace brigade::transport {

struct MeetOptions {
  int64_t rank = 0;
  int64_t size = 1;
  std::string address = "127.0.0.1";  ///< rank 0's
  uint16_t port = 0;
  std::chrono::milliseconds timeout{300'000};
};

/// Errors: kIo (the address cannot be resolved, or listened on), kTimeout (names who never came),
/// kUsage (rank 0 refused: another world size, or a rank that is taken).
Result<std::unique_ptr<Endpoint>> meet(const MeetOptions& options);

}  // namespace brigade::transport
