// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/crc32c.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace brigade {
namespace {

using Bytes = std::vector<std::byte>;

Bytes noise(size_t size, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random() & 0xffU);
  }
  return bytes;
}

void expect_both(uint32_t expected, std::span<const std::byte> bytes) {
  EXPECT_EQ(crc32c(bytes), expected);
  EXPECT_EQ(crc32c_by_table(bytes), expected);
}

TEST(Crc32c, GivesTheKnownCheckValue) {
  const std::string text = "123456789";
  expect_both(0xe3069283U, std::as_bytes(std::span(text)));
}

TEST(Crc32c, OfNothingIsZero) {
  expect_both(0, {});
}

/// RFC 3720, B.4.
TEST(Crc32c, GivesTheValuesOfIscsi) {
  Bytes bytes(32, std::byte{0});
  expect_both(0x8a9136aaU, bytes);
  std::fill(bytes.begin(), bytes.end(), std::byte{0xff});
  expect_both(0x62a8ab43U, bytes);
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i);
  }
  expect_both(0x46dd794eU, bytes);
  std::reverse(bytes.begin(), bytes.end());
  expect_both(0x113fdb5cU, bytes);
  // A read command.
  Bytes command(48, std::byte{0});
  command[0] = std::byte{0x01};
  command[1] = std::byte{0xc0};
  command[16] = std::byte{0x14};
  command[22] = std::byte{0x04};
  command[27] = std::byte{0x14};
  command[31] = std::byte{0x18};
  command[32] = std::byte{0x28};
  command[40] = std::byte{0x02};
  expect_both(0xd9963a56U, command);
}

TEST(Crc32c, IsTheSameByInstructionAndByTable) {
  const Bytes bytes = noise(40'000, 1);
  const std::span<const std::byte> all(bytes);
  std::mt19937 random(2);
  for (size_t size = 0; size < 300; ++size) {
    const auto piece = all.subspan(size % 9, size);
    EXPECT_EQ(crc32c(piece), crc32c_by_table(piece)) << size;
  }
  for (int i = 0; i < 300; ++i) {
    const size_t begin = random() % all.size();
    const auto piece = all.subspan(begin, random() % (all.size() - begin + 1));
    const auto before = static_cast<uint32_t>(random());
    EXPECT_EQ(crc32c(piece, before), crc32c_by_table(piece, before))
        << begin << " " << piece.size();
  }
}

TEST(Crc32c, GoesOnOverPieces) {
  const Bytes bytes = noise(30'000, 3);
  const uint32_t whole = crc32c(bytes);
  std::mt19937 random(4);
  for (int i = 0; i < 100; ++i) {
    uint32_t crc = 0;
    uint32_t by_table = 0;
    std::span<const std::byte> rest(bytes);
    while (!rest.empty()) {
      const size_t size = std::min<size_t>(rest.size(), random() % 9000);
      crc = crc32c(rest.first(size), crc);
      by_table = crc32c_by_table(rest.first(size), by_table);
      rest = rest.subspan(size);
    }
    EXPECT_EQ(crc, whole);
    EXPECT_EQ(by_table, whole);
  }
}

TEST(Crc32c, ChangesWithEveryBit) {
  Bytes bytes = noise(7000, 5);
  const uint32_t whole = crc32c(bytes);
  for (size_t i = 0; i < bytes.size(); i += 13) {
    const std::byte bit{static_cast<unsigned char>(1U << (i % 8))};
    bytes[i] ^= bit;
    EXPECT_NE(crc32c(bytes), whole) << i;
    bytes[i] ^= bit;
  }
}

}  // namespace
}  // namespace brigade
