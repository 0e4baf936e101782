// SPDX-License-Identifier: Apache-2.0
/// What operations hold beside the caller's memory, foreseen: the other side of
/// World::buffer_bytes().
///
///   reduction_buffers(4 << 20, 2);   // 1 MiB: a window of pieces from the one other member
#pragma once

#include <cstdint>

#include "parallel/collective/operation.h"
#include "parallel/transport/inbox.h"

namespace brigade::collective {

/// Of a connection to another rank over TCP.
inline constexpr int64_t kConnectionBuffers = transport::Inbox::kStageBytes;

/// While a reduction of which this member makes `result_bytes` runs among `members`.
constexpr int64_t reduction_buffers(int64_t result_bytes, int64_t members) {
  const int64_t window = static_cast<int64_t>(Operation::kWindow);
  const int64_t block = ScratchPool::kBlockBytes;
  const int64_t pieces = (result_bytes + block - 1) / block;
  return (members - 1) * block * (pieces < 1 ? 1 : pieces > window ? window : pieces);
}

}  // namespace brigade::collective
