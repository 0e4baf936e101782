// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/tensor_diff.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/inspect/saved.h"

namespace brigade::inspect {
namespace {

using checkpoint::ElementType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <class T>
TensorDiff diff_of(ElementType type,
                   const sharding::Shape& shape,
                   const std::vector<T>& a,
                   const std::vector<T>& b) {
  FakeSource source_a;
  FakeSource source_b;
  source_a.add("t", type, shape, a);
  source_b.add("t", type, shape, b);
  return value_or_throw(compare(source_a, source_b, "t"));
}

TEST(TensorDiff, FindsTheWorstElementOfAll) {
  const TensorDiff diff =
      diff_of<float>(ElementType::kF32, {2, 3}, {1, 2, 3, 4, 5, 6}, {1, 2.5, 3, 4, 5, 4});
  EXPECT_FALSE(diff.equal_bits);
  EXPECT_EQ(diff.differing, 2);
  EXPECT_EQ(diff.largest, 2.0);
  EXPECT_THAT(diff.worst_at, ElementsAre(1, 2));
  EXPECT_EQ(diff.worst_a, 6.0);
  EXPECT_EQ(diff.worst_b, 4.0);
}

TEST(TensorDiff, IsNothingForEqualBitsAlsoOfNaN) {
  EXPECT_TRUE(diff_of<float>(ElementType::kF32, {2}, {kNan, 1}, {kNan, 1}).equal_bits);
  EXPECT_TRUE(diff_of<float>(ElementType::kF32, {0, 4}, {}, {}).equal_bits);
}

TEST(TensorDiff, TellsBitsFromValues) {
  const TensorDiff zeros = diff_of<float>(ElementType::kF32, {2}, {1.0F, 0.0F}, {1.0F, -0.0F});
  EXPECT_FALSE(zeros.equal_bits);
  EXPECT_EQ(zeros.largest, 0.0);
  EXPECT_THAT(zeros.worst_at, ElementsAre(1));
  EXPECT_EQ(diff_of<float>(ElementType::kF32, {1}, {kNan}, {-kNan}).largest, 0.0);
}

TEST(TensorDiff, IsInfiniteWhereNaNOrInfinityMeetsAnother) {
  for (const auto& [a, b] : {std::pair(kNan, 1.0F),
                             std::pair(1.0F, kNan),
                             std::pair(kInfinity, kNan),
                             std::pair(kInfinity, -kInfinity),
                             std::pair(1.0F, kInfinity)}) {
    const TensorDiff diff = diff_of<float>(ElementType::kF32, {2}, {9, a}, {0, b});
    EXPECT_TRUE(std::isinf(diff.largest)) << a << " and " << b;
    EXPECT_THAT(diff.worst_at, ElementsAre(1));
  }
}

TEST(TensorDiff, KnowsTheOtherTypes) {
  // bfloat16's 1.0 and 1.0078125; doubles that are one float
  EXPECT_EQ(diff_of<uint16_t>(ElementType::kBF16, {1}, {0x3f80}, {0x3f81}).largest, 0.0078125);
  EXPECT_EQ(diff_of<double>(ElementType::kF64, {1}, {1.0}, {1.0 + 0x1p-40}).largest, 0x1p-40);
  const TensorDiff whole = diff_of<int64_t>(ElementType::kI64, {3}, {1, 2, 3}, {1, 5, 3});
  EXPECT_FALSE(whole.equal_bits);
  EXPECT_FALSE(whole.has_values);
  EXPECT_THAT(whole.worst_at, ElementsAre(1));
  EXPECT_THAT(diff_of<float>(ElementType::kF32, {}, {1}, {2}).worst_at, IsEmpty());
}

TEST(TensorDiff, CountsEveryElementOfALongRun) {
  constexpr int64_t kCount = 10000;
  std::vector<float> a(kCount, 1.0F);
  std::vector<float> b(kCount, 1.5F);
  b[9999] = 3.0F;
  const TensorDiff diff = diff_of<float>(ElementType::kF32, {kCount}, a, b);
  EXPECT_EQ(diff.differing, kCount);
  EXPECT_EQ(diff.largest, 2.0);
  EXPECT_THAT(diff.worst_at, ElementsAre(9999));
}

TEST(TensorDiff, RefusesElementsOfLessThanAByte) {
  FakeSource source;
  source.add<uint8_t>("t", ElementType::kF4, {2}, {1});
  const auto diff = compare(source, source, "t");
  ASSERT_FALSE(diff);
  EXPECT_THAT(diff.error().text, HasSubstr("F4"));
}

TEST(TensorDiff, ReadsALargeTensorInPiecesAndCountsThroughThem) {
  constexpr int64_t kRows = 9;
  constexpr int64_t kWide = 1 << 20;  // 4 MiB a row
  std::vector<float> values(kRows * kWide, 1.0F);
  FakeSource a;
  FakeSource b;
  a.add("t", ElementType::kF32, {kRows, kWide}, values);
  values[8 * kWide + 5] = 2.0F;
  b.add("t", ElementType::kF32, {kRows, kWide}, values);
  const TensorDiff diff = value_or_throw(compare(a, b, "t"));
  EXPECT_EQ(a.reads, 3);
  EXPECT_EQ(diff.differing, 1);
  EXPECT_THAT(diff.worst_at, ElementsAre(8, 5));
}

}  // namespace
}  // namespace brigade::inspect
