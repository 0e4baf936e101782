// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/philox.h"

#include <cmath>
#include <numbers>

namespace brigade {
namespace {

constexpr uint64_t kFnvOffset = 14695981039346656037ULL;
constexpr uint64_t kFnvPrime = 1099511628211ULL;

constexpr uint32_t kMultiplier0 = 0xD2511F53U;
constexpr uint32_t kMultiplier1 = 0xCD9E8D57U;
constexpr uint32_t kWeyl0 = 0x9E3779B9U;
constexpr uint32_t kWeyl1 = 0xBB67AE85U;

uint64_t fnv1a(uint64_t hash, std::string_view bytes) {
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<uint8_t>(byte)) * kFnvPrime;
  }
  return hash;
}

uint32_t low(uint64_t value) {
  return static_cast<uint32_t>(value);
}

uint32_t high(uint64_t value) {
  return static_cast<uint32_t>(value >> 32);
}

}  // namespace

uint64_t random_stream(std::string_view purpose, std::string_view name) {
  return fnv1a(fnv1a(fnv1a(kFnvOffset, purpose), std::string_view("\0", 1)), name);
}

std::array<uint32_t, 4> philox(uint64_t seed, uint64_t block, uint32_t step, uint64_t stream) {
  // 128 bits of counter hold block, step and half of the stream; the stream's other half goes into
  // the key.
  std::array<uint32_t, 4> counter = {low(block), high(block), step, low(stream)};
  uint32_t key0 = low(seed) ^ high(stream);
  uint32_t key1 = high(seed);
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{kMultiplier0} * counter[0];
    const uint64_t product1 = uint64_t{kMultiplier1} * counter[2];
    counter = {high(product1) ^ counter[1] ^ key0,
               low(product1),
               high(product0) ^ counter[3] ^ key1,
               low(product0)};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return counter;
}

float uniform_float(uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1.0p-24F;
}

std::array<float, 4> normal_block(uint64_t seed, uint64_t block, uint32_t step, uint64_t stream) {
  const std::array<uint32_t, 4> words = philox(seed, block, step, stream);
  std::array<float, 4> values = {};
  for (size_t pair = 0; pair < values.size(); pair += 2) {
    // (0, 1] for the logarithm, [0, 1) for the angle.
    const double radius =
        std::sqrt(-2.0 * std::log((static_cast<double>(words[pair]) + 1.0) * 0x1.0p-32));
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(words[pair + 1]) * 0x1.0p-32;
    values[pair] = static_cast<float>(radius * std::cos(angle));
    values[pair + 1] = static_cast<float>(radius * std::sin(angle));
  }
  return values;
}

float normal(uint64_t seed, uint64_t index, uint32_t step, uint64_t stream) {
  return normal_block(seed, index / 4, step, stream)[index % 4];
}

}  // namespace brigade
