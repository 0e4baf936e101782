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

std::string along(const std::string& mesh,
                  const std::string& from,
                  int64_t dim,
                  Algebra algebra = Algebra::kOther) {
  return text_of(plan_along_dim(mesh_of(mesh), "roll", type(from), dim, algebra), mesh_of(mesh));
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

TEST(PlanAlongDim, KeepsOtherDimsSplit) {
  EXPECT_EQ(along("x2,y2", "8,4@y", 0), "- -> 8,4@y");
}

TEST(PlanAlongDim, RefusesASplitDimInRowH9) {
  EXPECT_EQ(along("x2", "8@x,4", 0),
            "! roll: dim 0 of operand 0 f32[8@x,4] is split over x (2 parts), and the op works "
            "along it; reshard it to a whole dim first, or work on the parts in shard_map");
  EXPECT_EQ(along("x2", "8@x,4", 1), "- -> 8@x,4");
}

TEST(PlanAlongDim, WorksAlongADimSplitInOnePart) {
  EXPECT_EQ(along("x1,y2", "8@x,4@y", 0), "- -> 8@x,4@y");
}

TEST(PlanAlongDim, LetsUnfinishedSumsThroughIfLinear) {
  EXPECT_EQ(along("x2", "8{U:x}", 0, Algebra::kSum), "- -> 8{U:x}");
  EXPECT_THAT(along("x2", "8{U:x}", 0), HasSubstr("which only linear ops let through"));
}

TEST(PlanAlongDim, RefusesADimThatIsNotThere) {
  EXPECT_EQ(along("x2", "8,4", 2), "! roll: operand 0 f32[8,4] has no dim 2");
  EXPECT_EQ(along("x2", "8,4", -1), "! roll: operand 0 f32[8,4] has no dim -1");
}

}  // namespace
}  // namespace brigade::sharding
