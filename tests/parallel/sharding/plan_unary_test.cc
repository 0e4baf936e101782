// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/sharding/elementwise_plan.h"
#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::HasSubstr;

std::string unary(const std::string& from, Algebra algebra, std::optional<DType> to = {}) {
  const mesh::Mesh mesh = mesh_of("x2,y2");
  return text_of(plan_unary(mesh, "op", type(from), algebra, to), mesh);
}

TEST(PlanUnary, KeepsDimsAndReducedSets) {
  EXPECT_EQ(unary("8@x,5@y", Algebra::kOther), "- -> 8@x,5@y");
  EXPECT_EQ(unary("7@(x,y)", Algebra::kOther), "- -> 7@(x,y)");
  EXPECT_EQ(unary("8@x{R:y}", Algebra::kOther), "- -> 8@x{R:y}");
}

TEST(PlanUnary, LetsUnfinishedSumsThroughLinearOpsAloneInRowE10) {
  EXPECT_EQ(unary("8@x{U:y}", Algebra::kSum), "- -> 8@x{U:y}");
  EXPECT_EQ(unary("8{U:x}", Algebra::kOther),
            "! op: operand 0 f32[8]{U:x} is unreduced over x, which only linear ops let through; "
            "reshard it to finish the sum");
}

TEST(PlanUnary, ConvertsElementTypes) {
  EXPECT_EQ(unary("8{U:x}", Algebra::kSum, DType::kBFloat16), "- -> 8{U:x}");
  EXPECT_EQ(plan_unary(mesh_of("x2"), "to", type("8@x"), Algebra::kSum, DType::kBFloat16)
                ->local_result.dtype,
            DType::kBFloat16);
}

TEST(PlanUnary, RoundsNoTermsOfASumAndOwesWholeNumbersNoGradient) {
  EXPECT_THAT(unary("8{U:x}", Algebra::kSum, DType::kInt64), HasSubstr("is unreduced over x"));
  EXPECT_EQ(unary("8{R:x}", Algebra::kSum, DType::kInt64), "- -> 8");
}

TEST(PlanUnary, KnowsTheMeshsAxesAlone) {
  EXPECT_THAT(unary("8@w", Algebra::kOther), HasSubstr("axis \"w\""));
}

}  // namespace
}  // namespace brigade::sharding
