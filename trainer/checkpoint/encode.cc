// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/encode.h"

#include <bit>
#include <cstring>

#include "parallel/base/bf16.h"
#include "parallel/base/check.h"

namespace brigade::checkpoint {
namespace {

template <uint16_t (*Convert)(float)>
void encode_halves(std::span<const float> values, std::span<std::byte> out) {
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t bits = Convert(values[i]);
    std::memcpy(out.data() + 2 * i, &bits, sizeof bits);
  }
}

uint16_t to_bf16(float value) {
  return float_to_bf16(value);
}

}  // namespace

uint16_t float_to_f16(float value) {
  constexpr uint32_t kInfinity = 0x7f800000U;
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7fffffffU;
  const uint32_t sign = (bits >> 16) & 0x8000U;
  if (magnitude > kInfinity) {
    return static_cast<uint16_t>(sign | 0x7e00U);
  }
  if (magnitude >= 0x477ff000U) {  // 65520: half way between the largest half and the next
    return static_cast<uint16_t>(sign | 0x7c00U);
  }
  if (magnitude < 0x38800000U) {
    // Below 2^-14 halves are multiples of 2^-24; so are floats from 0.5 on, where the sum rounds.
    const uint32_t sum = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5F);
    return static_cast<uint16_t>(sign | (sum - 0x3f000000U));
  }
  const uint32_t even = (magnitude >> 13) & 1U;
  const uint32_t rounded = magnitude - 0x38000000U + 0xfffU + even;  // exponent bias 127 to 15
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

void encode(std::span<const float> values, ElementType type, std::span<std::byte> out) {
  BRIGADE_CHECK(out.size() * 8 == values.size() * bits_of(type), out.size(), values.size(), type);
  switch (type) {
    case ElementType::kF32:
      if (!values.empty()) {
        std::memcpy(out.data(), values.data(), out.size());
      }
      return;
    case ElementType::kBF16: return encode_halves<to_bf16>(values, out);
    case ElementType::kF16: return encode_halves<float_to_f16>(values, out);
    default: BRIGADE_CHECK(false, type);
  }
}

}  // namespace brigade::checkpoint
