// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/inspect/saved.h"

namespace brigade::inspect {
namespace {

using checkpoint::ElementType;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class TensorsOfTwo : public ::testing::Test {
 protected:
  TensorsOfTwo() {
    a_.add<float>("same", ElementType::kF32, {2}, {1, 2});
    b_.add<float>("same", ElementType::kF32, {2}, {1, 2});
  }

  Comparison compared(std::optional<double> tolerance = {}) {
    return value_or_throw(compare_tensors(a_, b_, tolerance));
  }

  FakeSource a_;
  FakeSource b_;
};

TEST_F(TensorsOfTwo, AreEqual) {
  const Comparison all = compared();
  EXPECT_TRUE(all.equal);
  EXPECT_EQ(all.text, "tensors: 1 with equal bits, 0 different\n");
}

TEST_F(TensorsOfTwo, AreNamedWhereOnlyOneHasThem) {
  a_.add<float>("left", ElementType::kF32, {1}, {1});
  b_.add<float>("right", ElementType::kF32, {1}, {1});
  const Comparison all = compared(1e9);
  EXPECT_FALSE(all.equal);
  EXPECT_THAT(all.text,
              AllOf(ContainsRegex("only in A +left +F32 \\[1\\]"),
                    ContainsRegex("only in B +right +F32 \\[1\\]"),
                    HasSubstr("2 different")));
}

TEST_F(TensorsOfTwo, AreNotComparedInOtherTypesOrShapes) {
  a_.add<float>("type", ElementType::kF32, {1}, {1});
  b_.add<uint16_t>("type", ElementType::kBF16, {1}, {0x3f80});
  a_.add<float>("shape", ElementType::kF32, {2, 1}, {1, 1});
  b_.add<float>("shape", ElementType::kF32, {1, 2}, {1, 1});
  const Comparison all = compared(1e9);
  EXPECT_FALSE(all.equal);
  EXPECT_THAT(all.text,
              AllOf(ContainsRegex("another kind +type +F32 \\[1\\] +BF16 \\[1\\]"),
                    ContainsRegex("another kind +shape +F32 \\[2, 1\\] +F32 \\[1, 2\\]")));
}

TEST_F(TensorsOfTwo, AreEqualWithinATolerance) {
  a_.add<float>("t", ElementType::kF32, {3}, {1, 2, 3});
  b_.add<float>("t", ElementType::kF32, {3}, {1, 2.25, 3});
  EXPECT_FALSE(compared().equal);
  EXPECT_FALSE(compared(0.2).equal);
  EXPECT_TRUE(compared(0.25).equal);
  EXPECT_THAT(compared().text, ContainsRegex("t +1 +0.25 +\\[1\\] +2 +2.25 +differs"));
  EXPECT_THAT(compared(0.25).text,
              AllOf(HasSubstr("within tolerance"),
                    HasSubstr("1 with equal bits, 1 within 0.25, 0 different")));
}

TEST_F(TensorsOfTwo, OfWholeNumbersHaveNoTolerance) {
  a_.add<int64_t>("n", ElementType::kI64, {1}, {1});
  b_.add<int64_t>("n", ElementType::kI64, {1}, {2});
  EXPECT_FALSE(compared(1e9).equal);
  EXPECT_THAT(compared(1e9).text, HasSubstr("not numbers"));
}

TEST(HeadsOfTwo, CountersDecideAndRecipesAreTold) {
  const checkpoint::Manifest a = head(10);
  EXPECT_TRUE(compare_heads(a, a).equal);
  EXPECT_EQ(compare_heads(a, a).text, "counters: equal\nrecipes: equal\n");

  checkpoint::Manifest b = a;
  b.recipe["optimizer.lr"] = "0.002";
  b.recipe.erase("training.steps");
  const Comparison recipes = compare_heads(a, b);
  EXPECT_TRUE(recipes.equal);
  EXPECT_THAT(recipes.text,
              AllOf(ContainsRegex("optimizer.lr +0.001 +0.002"),
                    ContainsRegex("training.steps +100 +\\(not set\\)")));

  b.counters.tokens += 1000;
  const Comparison counters = compare_heads(a, b);
  EXPECT_FALSE(counters.equal);
  EXPECT_THAT(counters.text,
              AllOf(ContainsRegex("counters.tokens +6,789,000 +6,790,000"),
                    Not(HasSubstr("counters.step"))));
}

}  // namespace
}  // namespace brigade::inspect
