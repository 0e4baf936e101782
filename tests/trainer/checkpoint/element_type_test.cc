// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/element_type.h"

#include <gtest/gtest.h>

namespace brigade::checkpoint {
namespace {

TEST(ElementType, EveryNameReadsBack) {
  for (int i = 0; i <= static_cast<int>(ElementType::kU64); ++i) {
    const auto type = static_cast<ElementType>(i);
    EXPECT_EQ(parse_element_type(to_string(type)), type);
  }
  EXPECT_EQ(parse_element_type("f32"), std::nullopt);
  EXPECT_EQ(parse_element_type(""), std::nullopt);
}

TEST(ElementType, StandsInTheOrderOfItsWidth) {
  EXPECT_EQ(bits_of(ElementType::kF4), 4U);
  EXPECT_EQ(bits_of(ElementType::kF6E3M2), 6U);
  for (int i = 2; i <= static_cast<int>(ElementType::kU64); ++i) {
    EXPECT_GE(bits_of(static_cast<ElementType>(i)),
              bits_of(i == 4 ? ElementType::kF6E3M2 : static_cast<ElementType>(i - 1)));
  }
  EXPECT_EQ(bits_of(ElementType::kU64), 64U);
}

TEST(ElementType, OurTypesHaveOneEach) {
  for (const DType dtype : {DType::kFloat32,
                            DType::kBFloat16,
                            DType::kFloat64,
                            DType::kInt64,
                            DType::kInt32,
                            DType::kUInt8,
                            DType::kBool}) {
    EXPECT_EQ(dtype_of(element_type_of(dtype)), dtype);
    EXPECT_EQ(bits_of(element_type_of(dtype)), static_cast<uint64_t>(8 * size_of(dtype)));
  }
  EXPECT_EQ(dtype_of(ElementType::kF16), std::nullopt);
}

}  // namespace
}  // namespace brigade::checkpoint
