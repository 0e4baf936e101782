// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/convert_elements.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::checkpoint {
namespace {

using ::testing::ElementsAre;

std::vector<float> there_and_back(const std::vector<float>& values, ElementType type) {
  std::vector<std::byte> stored(values.size() * bits_of(type) / 8);
  narrow(values, type, stored);
  std::vector<float> back(values.size());
  widen(stored, type, back);
  return back;
}

TEST(ConvertElements, KeepsWhatTheTypeHas) {
  const std::vector<float> values = {0.0F, -1.5F, 0.25F, 96.0F};
  for (const ElementType type :
       {ElementType::kF32, ElementType::kF64, ElementType::kBF16, ElementType::kF16}) {
    EXPECT_TRUE(is_convertible(type));
    EXPECT_EQ(there_and_back(values, type), values) << type;
  }
  EXPECT_FALSE(is_convertible(ElementType::kI32));
}

TEST(ConvertElements, RoundsToNearestEven) {
  // Halfway between two neighbours: to the one with an even last bit.
  EXPECT_THAT(there_and_back({1.0F + 0x1p-8F, 1.0F + 3 * 0x1p-8F}, ElementType::kBF16),
              ElementsAre(1.0F, 1.0F + 0x1p-6F));
  EXPECT_THAT(there_and_back({1.0F + 0x1p-11F, 1.0F + 3 * 0x1p-11F}, ElementType::kF16),
              ElementsAre(1.0F, 1.0F + 0x1p-9F));
}

TEST(ConvertElements, KeepsInfinityAndNan) {
  for (const ElementType type : {ElementType::kBF16, ElementType::kF16, ElementType::kF64}) {
    const auto back = there_and_back({std::numeric_limits<float>::infinity(), std::nanf("")}, type);
    EXPECT_TRUE(std::isinf(back[0])) << type;
    EXPECT_TRUE(std::isnan(back[1])) << type;
  }
  EXPECT_TRUE(std::isinf(there_and_back({1e6F}, ElementType::kF16)[0]));
}

TEST(ConvertElements, NeedsNoAlignment) {
  const std::vector<float> values = {1.0F, 2.0F};
  std::vector<std::byte> stored(9);
  narrow(values, ElementType::kF32, std::span(stored).subspan(1));
  std::vector<float> back(2);
  widen(std::span(stored).subspan(1), ElementType::kF32, back);
  EXPECT_EQ(back, values);
}

}  // namespace
}  // namespace brigade::checkpoint
