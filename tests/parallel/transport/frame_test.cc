// SPDX-License-Identifier: Apache-2.0
#include "parallel/transport/frame.h"

#include <limits>
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::transport {
namespace {

using ::testing::HasSubstr;

Frame sample() {
  Frame frame;
  frame.type = FrameType::kMessage;
  frame.key = {0x1122334455667788U, 42, 7, 2};
  frame.fingerprint = {3, 1, 2, -1, 4096, 0xfeedU};
  frame.length = 4096;
  return frame;
}

TEST(Frame, ComesBackAsItWent) {
  for (const FrameType type : {FrameType::kHello, FrameType::kMessage, FrameType::kAbort}) {
    Frame frame = sample();
    frame.type = type;
    frame.length = 64;
    const Result<Frame> decoded = decode(encode(frame));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(*decoded, frame);
  }
}

TEST(Frame, LiesInTheStreamAsTheFormatSays) {
  const auto header = encode(sample());
  const std::string magic = payload_text(std::span(header).first<4>());
  EXPECT_EQ(magic, "BRGD");
  EXPECT_EQ(header[4], std::byte{1});
  EXPECT_EQ(header[5], std::byte{4});
  EXPECT_EQ(header[8], std::byte{0x88});
  EXPECT_EQ(header[16], std::byte{42});
  EXPECT_EQ(header[57], std::byte{0x10});
}

TEST(Frame, NoticesEveryFlippedBit) {
  const auto header = encode(sample());
  for (size_t bit = 0; bit < kHeaderBytes * 8; ++bit) {
    auto damaged = header;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    EXPECT_FALSE(decode(damaged)) << bit;
  }
}

TEST(Frame, RefusesLengthsAboveTheTypesLimitWhateverTheChecksum) {
  for (const FrameType type : {FrameType::kHello,
                               FrameType::kAddresses,
                               FrameType::kRefusal,
                               FrameType::kMessage,
                               FrameType::kReady,
                               FrameType::kHeartbeat,
                               FrameType::kAbort,
                               FrameType::kGoodbye}) {
    Frame frame;
    frame.type = type;
    frame.length = max_length(type);
    EXPECT_TRUE(decode(encode(frame)));
    for (const uint64_t length : {max_length(type) + 1, std::numeric_limits<uint64_t>::max()}) {
      frame.length = length;
      const Result<Frame> decoded = decode(encode(frame));
      ASSERT_FALSE(decoded);
      EXPECT_THAT(decoded.error().text, HasSubstr("found " + std::to_string(length)));
    }
  }
}

TEST(Frame, RefusesUnknownTypes) {
  for (const int type : {0, 9, 255}) {
    Frame frame;
    frame.type = static_cast<FrameType>(type);
    const Result<Frame> decoded = decode(encode(frame));
    ASSERT_FALSE(decoded);
    EXPECT_THAT(decoded.error().text, HasSubstr("unknown type " + std::to_string(type)));
  }
}

TEST(Frame, RefusesNoise) {
  std::mt19937 random(1);
  for (int i = 0; i < 10'000; ++i) {
    std::array<std::byte, kHeaderBytes> noise;
    for (std::byte& byte : noise) {
      byte = static_cast<std::byte>(random() & 0xffU);
    }
    EXPECT_FALSE(decode(noise));
  }
}

}  // namespace
}  // namespace brigade::transport
