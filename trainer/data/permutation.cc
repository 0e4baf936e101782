// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/permutation.h"

#include "parallel/base/check.h"
#include "parallel/base/philox.h"

namespace brigade::data {
namespace {

constexpr uint32_t kRounds = 8;

}  // namespace

Permutation::Permutation(uint64_t seed, int64_t epoch, int64_t size)
    : seed_(seed), epoch_(static_cast<uint32_t>(epoch)), size_(static_cast<uint64_t>(size)) {
  BRIGADE_CHECK(size >= 1 && epoch >= 0 && epoch <= int64_t{UINT32_MAX}, size, epoch);
  while (half_bits_ < 32 && (uint64_t{1} << (2 * half_bits_)) < size_) {
    ++half_bits_;
  }
}

int64_t Permutation::operator()(int64_t index) const {
  BRIGADE_CHECK(index >= 0 && static_cast<uint64_t>(index) < size_, index, size_);
  auto value = static_cast<uint64_t>(index);
  do {
    value = pass(value);
  } while (value >= size_);
  return static_cast<int64_t>(value);
}

uint64_t Permutation::pass(uint64_t value) const {
  static const uint64_t stream = random_stream("data order", "");
  const uint64_t mask = (uint64_t{1} << half_bits_) - 1;
  uint64_t left = value >> half_bits_;
  uint64_t right = value & mask;
  for (uint64_t round = 0; round < kRounds; ++round) {
    // A half has at most 32 bits, so (half, round) is one 64-bit block number.
    const uint64_t noise = philox(seed_, right << 8 | round, epoch_, stream)[0];
    const uint64_t mixed = left ^ (noise & mask);
    left = right;
    right = mixed;
  }
  return left << half_bits_ | right;
}

}  // namespace brigade::data
