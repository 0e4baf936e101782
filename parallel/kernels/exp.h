// SPDX-License-Identifier: Apache-2.0
/// exp in float, written so that a loop over it vectorises and a lone call gives the same bits.
///
/// exp(x) = 2^n exp(r) with n = round(x / ln 2) and |r| <= ln 2 / 2. Within 1 ulp (tested over all
/// floats); subnormal results round once; +infinity above 88.73; 0 below -104; NaN stays NaN. No
/// fma: all instruction sets agree.
#pragma once

#include <bit>
#include <cstdint>

namespace brigade::kernels {

[[gnu::always_inline]] inline float power_of_two(int32_t exponent) {
  return std::bit_cast<float>(static_cast<uint32_t>(exponent + 127) << 23);
}

[[gnu::always_inline]] inline float exp(float x) {
  constexpr float kLowest = -104.0F;  // below half of the smallest subnormal
  constexpr float kHighest = 89.0F;   // beyond the largest float
  constexpr float kInverseLn2 = 0x1.715476p+0F;
  constexpr float kLn2High = 0x1.63p-1F;  // 9 bits: n * kLn2High is exact
  constexpr float kLn2Low = -0x1.bd0106p-13F;
  constexpr float kRoundToInteger = 0x1.8p+23F;  // adding it leaves the integer in the low bits
  // Minimax of (exp(r) - 1 - r) / r^2, weighted by the relative error of exp: below 0.08 * 2^-24.
  constexpr float kC0 = 0x1.fffffcp-2F;
  constexpr float kC1 = 0x1.55549p-3F;
  constexpr float kC2 = 0x1.5558f4p-5F;
  constexpr float kC3 = 0x1.123a6cp-7F;
  constexpr float kC4 = 0x1.6a2352p-10F;

  // Written so that NaN fails both comparisons and goes on.
  const float above = x < kLowest ? kLowest : x;
  const float bounded = above > kHighest ? kHighest : above;
  const float shifted = bounded * kInverseLn2 + kRoundToInteger;
  const float n = shifted - kRoundToInteger;
  const int32_t exponent = static_cast<int32_t>(std::bit_cast<uint32_t>(shifted) -
                                                std::bit_cast<uint32_t>(kRoundToInteger));
  const float r = (bounded - n * kLn2High) - n * kLn2Low;
  const float polynomial = (((kC4 * r + kC3) * r + kC2) * r + kC1) * r + kC0;
  const float value = 1.0F + (r + r * r * polynomial);
  // Two factors, as 2^n alone may be no float; the first product is exact.
  const int32_t half = exponent >> 1;
  return value * power_of_two(half) * power_of_two(exponent - half);
}

/// 1 / (1 + exp(-x)) and its complement, both to a few ulp on both sides of zero.
struct Sigmoid {
  float value;
  float complement;
};

[[gnu::always_inline]] inline Sigmoid sigmoid(float x) {
  const bool negative = x < 0.0F;
  const float small = exp(negative ? x : -x);
  const float large_part = 1.0F / (1.0F + small);
  const float small_part = small * large_part;
  return {negative ? small_part : large_part, negative ? large_part : small_part};
}

}  // namespace brigade::kernels
