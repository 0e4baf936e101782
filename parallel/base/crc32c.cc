// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/crc32c.h"

#include <array>
#include <cstring>

namespace brigade {
namespace {

constexpr size_t kStep = 8;  // bytes at once
constexpr uint32_t kReflectedPolynomial = 0x82f63b78;

using Table = std::array<uint32_t, 256>;

/// tables[k][b]: what byte b does to the checksum when k more bytes follow it.
constexpr std::array<Table, kStep> make_tables() {
  std::array<Table, kStep> tables = {};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1U) != 0 ? kReflectedPolynomial : 0U);
    }
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < kStep; ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = (crc >> 8) ^ tables[0][crc & 0xffU];
    }
  }
  return tables;
}

constexpr std::array<Table, kStep> kTables = make_tables();

uint64_t load(const std::byte* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, kStep);
  return word;
}

#if defined(__x86_64__)
bool has_instruction() {
  static const bool has = __builtin_cpu_supports("sse4.2") != 0;
  return has;
}

[[gnu::target("sse4.2")]] uint32_t crc32c_by_instruction(std::span<const std::byte> bytes,
                                                         uint32_t before) {
  uint64_t crc = ~before;
  for (; bytes.size() >= kStep; bytes = bytes.subspan(kStep)) {
    crc = __builtin_ia32_crc32di(crc, load(bytes.data()));
  }
  auto last = static_cast<uint32_t>(crc);
  for (const std::byte byte : bytes) {
    last = __builtin_ia32_crc32qi(last, std::to_integer<uint8_t>(byte));
  }
  return ~last;
}
#else
bool has_instruction() {
  return false;
}

uint32_t crc32c_by_instruction(std::span<const std::byte>, uint32_t) {
  return 0;
}
#endif

}  // namespace

namespace detail {

uint32_t crc32c_by_tables(std::span<const std::byte> bytes, uint32_t before) {
  uint32_t crc = ~before;
  for (; bytes.size() >= kStep; bytes = bytes.subspan(kStep)) {
    const uint64_t word = load(bytes.data()) ^ crc;
    crc = 0;
    for (size_t k = 0; k < kStep; ++k) {
      crc ^= kTables[kStep - 1 - k][(word >> (8 * k)) & 0xffU];
    }
  }
  for (const std::byte byte : bytes) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ std::to_integer<uint32_t>(byte)) & 0xffU];
  }
  return ~crc;
}

}  // namespace detail

uint32_t crc32c(std::span<const std::byte> bytes, uint32_t before) {
  return has_instruction() ? crc32c_by_instruction(bytes, before)
                           : detail::crc32c_by_tables(bytes, before);
}

}  // namespace brigade
