// SPDX-License-Identifier: Apache-2.0
#include "parallel/transport/frame.h"

#include <algorithm>
#include <string>

#include "parallel/base/crc32c.h"
#include "parallel/base/text.h"

namespace brigade::transport {
namespace {

constexpr uint32_t kMagic = 0x44475242U;  // "BRGD" as it lies in the stream
constexpr size_t kChecksumAt = 36;

template <class T>
void put(std::span<std::byte> out, size_t at, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    out[at + i] = static_cast<std::byte>((static_cast<uint64_t>(value) >> (8 * i)) & 0xffU);
  }
}

template <class T>
T get(std::span<const std::byte> in, size_t at) {
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value |= std::to_integer<uint64_t>(in[at + i]) << (8 * i);
  }
  return static_cast<T>(value);
}

bool known(uint8_t type) {
  return type >= static_cast<uint8_t>(FrameType::kHello) &&
         type <= static_cast<uint8_t>(FrameType::kGoodbye);
}

}  // namespace

uint64_t max_length(FrameType type) {
  switch (type) {
    case FrameType::kHello: return 64;
    case FrameType::kAddresses: return uint64_t{1} << 20;
    case FrameType::kRefusal: return 4096;
    case FrameType::kMessage: return static_cast<uint64_t>(kMaxMessageBytes);
    case FrameType::kReady: return 0;
    case FrameType::kHeartbeat: return 1024;
    case FrameType::kAbort: return 65536;
    case FrameType::kGoodbye: return 0;
  }
  return 0;
}

std::array<std::byte, kHeaderBytes> encode(const Frame& frame) {
  std::array<std::byte, kHeaderBytes> header = {};
  put(header, 0, kMagic);
  put(header, 4, kWireVersion);
  put(header, 5, static_cast<uint8_t>(frame.type));
  put(header, 6, frame.key.lane);
  put(header, 8, frame.key.group);
  put(header, 16, frame.key.sequence);
  put(header, 24, frame.key.part);
  put(header, 28, frame.fingerprint.operation);
  put(header, 29, frame.fingerprint.reduction);
  put(header, 30, frame.fingerprint.dtype);
  put(header, 32, static_cast<uint32_t>(frame.fingerprint.root));
  put(header, 40, frame.fingerprint.bytes);
  put(header, 48, frame.fingerprint.layout);
  put(header, 56, frame.length);
  put(header, kChecksumAt, crc32c(header));
  return header;
}

Result<Frame> decode(std::span<const std::byte, kHeaderBytes> header) {
  const uint32_t magic = get<uint32_t>(header, 0);
  if (magic != kMagic) {
    return fail(ErrorCode::kData, concat("expected a frame of brigade's, found magic ", magic));
  }
  const uint8_t version = get<uint8_t>(header, 4);
  if (version != kWireVersion) {
    return fail(ErrorCode::kData,
                concat("expected wire version ", int{kWireVersion}, ", found ", int{version}));
  }
  std::array<std::byte, kHeaderBytes> blank;
  std::copy(header.begin(), header.end(), blank.begin());
  put(blank, kChecksumAt, uint32_t{0});
  if (crc32c(blank) != get<uint32_t>(header, kChecksumAt)) {
    return fail(ErrorCode::kData, "a frame's header is damaged: its checksum does not fit");
  }
  const uint8_t type = get<uint8_t>(header, 5);
  if (!known(type) || get<uint8_t>(header, 7) != 0 || get<uint8_t>(header, 31) != 0) {
    return fail(ErrorCode::kData, concat("a frame of unknown type ", int{type}));
  }
  Frame frame;
  frame.type = static_cast<FrameType>(type);
  frame.key = {get<uint64_t>(header, 8),
               get<uint64_t>(header, 16),
               get<uint32_t>(header, 24),
               get<uint8_t>(header, 6)};
  frame.fingerprint = {get<uint8_t>(header, 28),
                       get<uint8_t>(header, 29),
                       get<uint8_t>(header, 30),
                       static_cast<int32_t>(get<uint32_t>(header, 32)),
                       get<uint64_t>(header, 40),
                       get<uint64_t>(header, 48)};
  frame.length = get<uint64_t>(header, 56);
  if (frame.length > max_length(frame.type)) {
    return fail(ErrorCode::kData,
                concat("a frame of type ",
                       int{type},
                       " may carry ",
                       max_length(frame.type),
                       " bytes, found ",
                       frame.length));
  }
  return frame;
}

std::vector<std::byte> text_payload(FrameType type, const std::string& text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span<const char>(text));
  const size_t length = std::min<size_t>(bytes.size(), max_length(type));
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)};
}

std::string payload_text(std::span<const std::byte> payload) {
  std::string text;
  for (const std::byte byte : payload) {
    text.push_back(std::to_integer<char>(byte));
  }
  return text;
}

}  // namespace brigade::transport
