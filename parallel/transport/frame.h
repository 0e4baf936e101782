// SPDX-License-Identifier: Apache-2.0
/// Frames: what crosses a connection. A header of 64 bytes, then `length` bytes of payload.
/// Sans-I/O; docs/WIRE_FORMAT.md has the layout to the byte.
///
///   std::array<std::byte, kHeaderBytes> header = encode(frame);
///   Result<Frame> frame = decode(header);   // kData: not ours, damaged, or too long for its type
///
/// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/transport/message.h"

namespace brigade::transport {

inline constexpr size_t kHeaderBytes = 64;
inline constexpr uint8_t kWireVersion = 1;

enum class FrameType : uint8_t {
  kHello = 1,      ///< first frame of a connection: rank in `root`, world size in `bytes`, address
  kAddresses = 2,  ///< rank 0's answer: the address of every rank
  kRefusal = 3,    ///< instead of it: why not
  kMessage = 4,    ///< one message of the caller's
  kReady = 5,      ///< the receive for `key` is posted: a long message may come
  kHeartbeat = 6,  ///< I am alive; `root`: whom I wait for, payload: in what
  kAbort = 7,      ///< the world is dead: code in `operation`, origin in `root`, payload: the text
  kGoodbye = 8,    ///< nothing more will come, on purpose
};

struct Frame {
  FrameType type = FrameType::kMessage;
  Key key;
  Fingerprint fingerprint;
  uint64_t length = 0;

  bool operator==(const Frame&) const = default;
};

/// Longest payload of a type.
uint64_t max_length(FrameType type);

std::array<std::byte, kHeaderBytes> encode(const Frame& frame);

/// Trusts nothing: magic, version, checksum, type, reserved bytes and the type's longest payload
/// are checked before anybody sees the frame.
Result<Frame> decode(std::span<const std::byte, kHeaderBytes> header);

/// A payload of text, cut to what `type` may carry.
std::vector<std::byte> text_payload(FrameType type, const std::string& text);
std::string payload_text(std::span<const std::byte> payload);

}  // namespace brigade::transport
