// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/encode.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace brigade::checkpoint {
namespace {

/// The value of half-precision bits, by the format's definition.
double value_of(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const int fraction = bits & 0x3ff;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Encode, KeepsEveryHalfAsItIs) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    if ((half & 0x7c00) == 0x7c00) {
      continue;  // infinite, or NaN
    }
    EXPECT_EQ(float_to_f16(static_cast<float>(value_of(half))), half) << bits;
  }
}

TEST(Encode, RoundsBetweenAnyTwoHalvesToTheNearerAndTiesToTheEven) {
  for (uint16_t low = 0; low < 0x7bff; ++low) {
    const auto high = static_cast<uint16_t>(low + 1);
    const auto middle = static_cast<float>((value_of(low) + value_of(high)) / 2);
    const uint16_t even = low % 2 == 0 ? low : high;
    EXPECT_EQ(float_to_f16(middle), even) << low;
    EXPECT_EQ(float_to_f16(std::nextafter(middle, 0.0F)), low) << low;
    EXPECT_EQ(float_to_f16(std::nextafter(middle, 1e6F)), high) << low;
    EXPECT_EQ(float_to_f16(-middle), even | 0x8000) << low;
  }
}

TEST(Encode, SaysInfinityAndNanInHalves) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(float_to_f16(65519.99F), 0x7bff);
  EXPECT_EQ(float_to_f16(65520.0F), 0x7c00);
  EXPECT_EQ(float_to_f16(kInfinity), 0x7c00);
  EXPECT_EQ(float_to_f16(-kInfinity), 0xfc00);
  EXPECT_EQ(float_to_f16(std::nanf("")) & 0x7fff, 0x7e00);
}

TEST(Encode, WritesEachTypeOfWeights) {
  const std::vector<float> values = {1.0F, -2.5F};
  std::vector<std::byte> out(8);
  encode(values, ElementType::kF32, out);
  EXPECT_EQ(std::memcmp(out.data(), values.data(), 8), 0);
  const auto halves = [&](ElementType type) {
    out.resize(4);
    encode(values, type, out);
    uint32_t both = 0;
    std::memcpy(&both, out.data(), 4);
    return both;
  };
  EXPECT_EQ(halves(ElementType::kBF16), 0xc0203f80U);
  EXPECT_EQ(halves(ElementType::kF16), 0xc1003c00U);
}

}  // namespace
}  // namespace brigade::checkpoint
