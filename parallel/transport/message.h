// SPDX-License-Identifier: Apache-2.0
/// What a message says about itself: where it belongs, and which call it is part of.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace brigade::transport {

/// Longest payload of one message; longer streams are cut by the caller.
inline constexpr int64_t kMaxMessageBytes = int64_t{1} << 20;

/// Up to this many bytes leave at once and are buffered where no receive is posted yet; longer
/// messages wait at the sender until the receiver is ready.
inline constexpr int64_t kEagerBytes = int64_t{64} << 10;

/// Names one message between two ranks. Messages with equal keys match in posting order.
struct Key {
  uint64_t group = 0;
  uint64_t sequence = 0;
  uint32_t part = 0;
  uint8_t lane = 0;  ///< separates the caller's kinds of messages

  auto operator<=>(const Key&) const = default;
};

/// One call of a collective as every member must make it. The numbers' meaning is the caller's; the
/// transport only compares them, before it touches the memory of a posted receive.
struct Fingerprint {
  uint8_t operation = 0;
  uint8_t reduction = 0;
  uint8_t dtype = 0;
  int32_t root = -1;
  uint64_t bytes = 0;   ///< of the whole operation
  uint64_t layout = 0;  ///< hash of the lengths per member

  bool operator==(const Fingerprint&) const = default;
};

struct KeyHash {
  size_t operator()(const Key& key) const noexcept {
    uint64_t hash = key.group;
    for (const uint64_t word : {key.sequence, (uint64_t{key.part} << 8) | key.lane}) {
      hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

}  // namespace brigade::transport
