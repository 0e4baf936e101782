// SPDX-License-Identifier: Apache-2.0
/// The calls that members compare, and how they read in messages.
///
///   describe(print)   // "all_reduce f32[4194304]", "broadcast of 400 B from member 1"
///
/// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parallel/base/dtype.h"
#include "parallel/collective/communicator.h"
#include "parallel/transport/message.h"

namespace brigade::collective {

/// Travels in frames: numbers are never reused.
enum class Call : uint8_t {
  kBarrier = 1,
  kAllReduce = 2,
  kReduceScatter = 3,
  kAllGather = 4,
  kBroadcast = 5,
  kAllToAll = 6,
  kMessage = 7,
};

transport::Fingerprint reduction_print(
    Call call, DType dtype, ReduceOp op, int64_t bytes, uint64_t layout);
transport::Fingerprint copy_print(Call call, int64_t bytes, uint64_t layout, int root = -1);

/// A hash of lengths, one per member.
uint64_t layout_of(const std::vector<int64_t>& lengths);

std::string describe(const transport::Fingerprint& print);

}  // namespace brigade::collective
