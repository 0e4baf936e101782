// SPDX-License-Identifier: Apache-2.0
/// bfloat16 to float and back: round to nearest even, NaN stays NaN. In integers, as the
/// processor's own conversion flushes subnormals: then instruction sets would differ.
#pragma once

#include <bit>
#include <cstdint>

namespace brigade {

[[gnu::always_inline]] inline float bf16_to_float(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

[[gnu::always_inline]] inline uint16_t float_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) {
    return static_cast<uint16_t>((bits >> 16) | 0x40U);  // quiet NaN
  }
  const uint32_t rounding = 0x7fffU + ((bits >> 16) & 1U);
  return static_cast<uint16_t>((bits + rounding) >> 16);
}

}  // namespace brigade
