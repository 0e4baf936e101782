// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/crc32c.h"

#include <array>

#if defined(__x86_64__)
#include <cstring>
#include <nmmintrin.h>
#endif

namespace brigade {
namespace {

using Bytes = std::span<const std::byte>;
using Row = std::array<uint32_t, 256>;

/// What a byte that is `distance` bytes before the end of a step of eight does to the register.
constexpr std::array<Row, 8> make_rows() {
  std::array<Row, 8> rows = {};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0x82f63b78U : 0U);
    }
    rows[0][byte] = crc;
  }
  for (size_t distance = 1; distance < 8; ++distance) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t crc = rows[distance - 1][byte];
      rows[distance][byte] = (crc >> 8) ^ rows[0][crc & 0xffU];
    }
  }
  return rows;
}

constexpr std::array<Row, 8> kRows = make_rows();

constexpr uint32_t low_byte(uint32_t value, unsigned byte) {
  return (value >> (8 * byte)) & 0xffU;
}

/// Takes the bytes into a register that holds no final xor.
uint32_t take_by_table(uint32_t crc, Bytes bytes) {
  while (bytes.size() >= 8) {
    uint32_t next = 0;
    for (unsigned i = 0; i < 4; ++i) {
      next ^= kRows[7 - i][low_byte(crc, i) ^ std::to_integer<uint32_t>(bytes[i])];
      next ^= kRows[3 - i][std::to_integer<uint32_t>(bytes[4 + i])];
    }
    crc = next;
    bytes = bytes.subspan(8);
  }
  for (const std::byte byte : bytes) {
    crc = (crc >> 8) ^ kRows[0][(crc ^ std::to_integer<uint32_t>(byte)) & 0xffU];
  }
  return crc;
}

#if defined(__x86_64__)

/// The instruction takes three cycles and starts every cycle: three streams keep it busy.
constexpr size_t kStreamBytes = 2048;

/// A linear map of the register: what it makes of each bit.
using Matrix = std::array<uint32_t, 32>;

constexpr uint32_t apply(const Matrix& matrix, uint32_t crc) {
  uint32_t result = 0;
  for (size_t bit = 0; crc != 0; ++bit, crc >>= 1) {
    result ^= (crc & 1U) != 0 ? matrix[bit] : 0U;
  }
  return result;
}

/// By byte of the register: what kStreamBytes zero bytes make of it.
constexpr std::array<Row, 4> make_stream_shift() {
  Matrix zeros = {};
  for (unsigned bit = 0; bit < 32; ++bit) {
    const uint32_t crc = 1U << bit;
    zeros[bit] = (crc >> 8) ^ kRows[0][crc & 0xffU];
  }
  for (size_t bytes = 1; bytes < kStreamBytes; bytes *= 2) {
    Matrix twice = {};
    for (size_t bit = 0; bit < 32; ++bit) {
      twice[bit] = apply(zeros, zeros[bit]);
    }
    zeros = twice;
  }
  std::array<Row, 4> shift = {};
  for (unsigned byte = 0; byte < 4; ++byte) {
    for (uint32_t value = 0; value < 256; ++value) {
      shift[byte][value] = apply(zeros, value << (8 * byte));
    }
  }
  return shift;
}

constexpr std::array<Row, 4> kStreamShift = make_stream_shift();

uint32_t shifted(uint64_t crc) {
  const auto low = static_cast<uint32_t>(crc);
  return kStreamShift[0][low_byte(low, 0)] ^ kStreamShift[1][low_byte(low, 1)] ^
         kStreamShift[2][low_byte(low, 2)] ^ kStreamShift[3][low_byte(low, 3)];
}

uint64_t word(const std::byte* at) {
  uint64_t value = 0;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

__attribute__((target("sse4.2"))) uint32_t take_by_instruction(uint32_t crc, Bytes bytes) {
  uint64_t first = crc;
  while (bytes.size() >= 3 * kStreamBytes) {
    uint64_t second = 0;
    uint64_t third = 0;
    const std::byte* at = bytes.data();
    for (size_t i = 0; i < kStreamBytes; i += 8) {
      first = _mm_crc32_u64(first, word(at + i));
      second = _mm_crc32_u64(second, word(at + kStreamBytes + i));
      third = _mm_crc32_u64(third, word(at + 2 * kStreamBytes + i));
    }
    first = shifted(shifted(first) ^ second) ^ third;
    bytes = bytes.subspan(3 * kStreamBytes);
  }
  while (bytes.size() >= 8) {
    first = _mm_crc32_u64(first, word(bytes.data()));
    bytes = bytes.subspan(8);
  }
  crc = static_cast<uint32_t>(first);
  for (const std::byte byte : bytes) {
    crc = _mm_crc32_u8(crc, std::to_integer<uint8_t>(byte));
  }
  return crc;
}

uint32_t take(uint32_t crc, Bytes bytes) {
  static const bool fast = __builtin_cpu_supports("sse4.2") != 0;
  return fast ? take_by_instruction(crc, bytes) : take_by_table(crc, bytes);
}

#else

uint32_t take(uint32_t crc, Bytes bytes) {
  return take_by_table(crc, bytes);
}

#endif

}  // namespace

uint32_t crc32c(Bytes bytes, uint32_t before) {
  return ~take(~before, bytes);
}

uint32_t crc32c_by_table(Bytes bytes, uint32_t before) {
  return ~take_by_table(~before, bytes);
}

}  // namespace brigade
