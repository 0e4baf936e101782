// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/bf16.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace brigade {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Bf16, KeepsEveryOneOfItsOwnValues) {
  for (uint32_t bits = 0; bits <= 0xffffU; ++bits) {
    const float value = bf16_to_float(static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(bf16_to_float(float_to_bf16(value)))) << bits;
    } else {
      ASSERT_EQ(float_to_bf16(value), bits);
    }
  }
}

TEST(Bf16, RoundsToNearest) {
  EXPECT_EQ(float_to_bf16(1.0F + 0x1p-9F), 0x3f80);
  EXPECT_EQ(float_to_bf16(1.0F + 0x1.8p-8F), 0x3f81);
}

TEST(Bf16, RoundsHalfwayToEven) {
  EXPECT_EQ(float_to_bf16(1.0F + 0x1p-8F), 0x3f80);
  EXPECT_EQ(float_to_bf16(1.0F + 0x1.8p-7F), 0x3f82);
  EXPECT_EQ(float_to_bf16(-1.0F - 0x1p-8F), 0xbf80);
}

TEST(Bf16, OverflowsToInfinityOnlyBeyondItsLargest) {
  const float largest = 0x1.fep127F;
  EXPECT_EQ(bf16_to_float(float_to_bf16(largest)), largest);
  EXPECT_EQ(bf16_to_float(float_to_bf16(std::numeric_limits<float>::max())), kInfinity);
  EXPECT_EQ(bf16_to_float(float_to_bf16(-kInfinity)), -kInfinity);
}

TEST(Bf16, KeepsASignalingNanWhoseTopBitsAreZeroANan) {
  EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(std::bit_cast<float>(0x7f800001U)))));
  EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(std::bit_cast<float>(0xffffffffU)))));
}

TEST(Bf16, KeepsTheSignOfZeroAndSubnormals) {
  EXPECT_EQ(float_to_bf16(-0.0F), 0x8000);
  EXPECT_EQ(float_to_bf16(bf16_to_float(0x0001)), 0x0001);
}

}  // namespace
}  // namespace brigade
