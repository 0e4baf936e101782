// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/sharding/elementwise_plan.h"
#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::HasSubstr;

Algebra algebra_of(const std::string& op) {
  return op == "add" || op == "neg" ? Algebra::kSum
         : op == "mul"              ? Algebra::kProduct
         : op == "div"              ? Algebra::kQuotient
         : op == "less"             ? Algebra::kTest
                                    : Algebra::kOther;
}

std::string apply(const std::string& mesh,
                  const std::string& op,
                  const std::vector<std::string>& operands) {
  std::vector<TensorType> types;
  for (const std::string& operand : operands) {
    types.push_back(type(operand));
  }
  return text_of(plan_elementwise(mesh_of(mesh), op, types, algebra_of(op)), mesh_of(mesh));
}

/// A choice by a mask between two others.
std::string choose(const std::string& mesh, const std::vector<std::string>& operands) {
  std::vector<TensorType> types;
  for (const std::string& operand : operands) {
    types.push_back(type(operand));
  }
  types[0].dtype = DType::kBool;
  return text_of(plan_elementwise(mesh_of(mesh), "where", types, Algebra::kChoice), mesh_of(mesh));
}

TEST(PlanElementwise, KeepsEqualSpecs) {
  EXPECT_EQ(apply("x2,y2", "mul", {"8@x,2@y", "8@x,2@y"}), "- | - -> 8@x,2@y");
  EXPECT_EQ(apply("x2,y2", "tanh", {"8@(x,y)"}), "- -> 8@(x,y)");
}

TEST(PlanElementwise, SlicesAWholeOperandAndMarksTheCopiesInRowE1) {
  EXPECT_EQ(apply("x2,y2", "mul", {"8@x,2@y", "1,2"}), "- | slice y 1; mark_reduced x -> 8@x,2@y");
}

TEST(PlanElementwise, RefusesDifferentAxesOnOneDimInRowsE2AndE3) {
  EXPECT_EQ(
      apply("x2,y2", "mul", {"8@x,2@y", "8@y,2@x"}),
      "! mul: dim 0 (size 8) is split over x by operand 0 f32[8@x,2@y] and over y by operand 1 "
      "f32[8@y,2@x]; reshard one of them");
  EXPECT_THAT(apply("x2,y2", "mul", {"8@x,2@y", "8@(x,y),2"}), HasSubstr("over x, y by operand 1"));
}

TEST(PlanElementwise, RefusesOneAxisOnTwoDims) {
  EXPECT_EQ(apply("x2", "add", {"8@x,2", "8,2@x"}),
            "! add: the result would be split over x on dim 0 as operand 0 f32[8@x,2] and on dim 1 "
            "as operand 1 f32[8,2@x]; reshard one of them");
}

TEST(PlanElementwise, AcceptsAReducedOperandBesideASplitOneInRowE7) {
  EXPECT_EQ(apply("x2", "mul", {"8{R:x}", "8@x"}), "slice_reduced x 0 | - -> 8@x");
  EXPECT_EQ(apply("x2", "mul", {"4@x,8", "8{R:x}"}), "- | - -> 4@x,8");
}

TEST(PlanElementwise, KeepsReducedWhereAllOperandsAreInRowE9) {
  EXPECT_EQ(apply("x2", "mul", {"8{R:x}", "8{R:x}"}), "- | - -> 8{R:x}");
  EXPECT_EQ(apply("x2", "tanh", {"8{R:x}"}), "- -> 8{R:x}");
}

TEST(PlanElementwise, RefusesAReducedBesideAReplicatedOperand) {
  EXPECT_EQ(
      apply("x2", "mul", {"8{R:x}", "8"}),
      "! mul: operand 0 f32[8]{R:x} is reduced over x, operand 1 f32[8] is replicated over it, "
      "and no operand is split over it; reshard the replicated one to {R:x}");
}

TEST(PlanElementwise, LetsSumsThroughLinearOpsAloneInRowE10) {
  EXPECT_EQ(apply("x2", "add", {"8{U:x}", "8{U:x}"}), "- | - -> 8{U:x}");
  EXPECT_EQ(apply("x2", "neg", {"8{U:x}"}), "- -> 8{U:x}");
  EXPECT_EQ(apply("x2", "mul", {"8{U:x}", "8{R:x}"}), "- | - -> 8{U:x}");
  EXPECT_EQ(apply("x2", "mul", {"8{R:x}", "8{U:x}"}), "- | - -> 8{U:x}");
  EXPECT_EQ(apply("x2", "div", {"8{U:x}", "8{R:x}"}), "- | - -> 8{U:x}");
  EXPECT_EQ(apply("x2", "add", {"8{U:x}", "8"}),
            "! add: all operands must be unreduced over the same axes, here x; operand 1 f32[8] is "
            "not; reshard it, or finish the sums first");
  EXPECT_THAT(apply("x2,y2", "add", {"8{U:x}", "8{U:x,y}"}), HasSubstr("over the same axes"));
  EXPECT_THAT(apply("x2", "add", {"8@x", "8{U:x}"}), HasSubstr("operand 0 f32[8@x] is not"));
  EXPECT_THAT(apply("x2", "mul", {"8{U:x}", "8{U:x}"}),
              HasSubstr("operand 1 f32[8]{U:x} is unreduced; only one factor"));
  EXPECT_THAT(apply("x2", "mul", {"8{U:x}", "8"}),
              HasSubstr("operand 1 f32[8] should be reduced along the same axes"));
  EXPECT_THAT(apply("x2", "div", {"8", "8{U:x}"}), HasSubstr("the numerator may be"));
  EXPECT_EQ(apply("x2", "sin", {"8{U:x}"}),
            "! sin: operand 0 f32[8]{U:x} is unreduced over x, which only linear ops let through; "
            "reshard it to finish the sum");
}

TEST(PlanElementwise, LetsNoTermsOfAnExtremeThrough) {
  EXPECT_EQ(apply("x2", "add", {"8{Umax:x}", "8{Umax:x}"}),
            "! add: operand 0 f32[8]{Umax:x} holds terms of a max over x, which only a max lets "
            "through; reshard it to finish the max");
  EXPECT_THAT(apply("x2", "mul", {"8{Umin:x}", "8{R:x}"}), HasSubstr("terms of a min"));
  EXPECT_THAT(apply("x2", "sin", {"8{Umin:x}"}), HasSubstr("terms of a min"));
  EXPECT_THAT(choose("x2", {"8", "8{Umax:x}", "8{Umax:x}"}), HasSubstr("terms of a max"));
}

TEST(PlanElementwise, MarksAScalarBesideASplitOperandInRowE11) {
  EXPECT_EQ(apply("x2", "add", {"8@x", ""}), "- | mark_reduced x -> 8@x");
}

TEST(PlanElementwise, BroadcastsFromTheRight) {
  EXPECT_EQ(apply("x2,y2", "add", {"8@x,4,6@y", "6@y{R:x}"}), "- | - -> 8@x,4,6@y");
  EXPECT_EQ(apply("x2", "add", {"1@x", "1"}), "- | slice x 0 -> 1@x");
  EXPECT_EQ(apply("x2", "sum of three", {"4,1", "1,3", "3"}), "- | - | - -> 4,3");
  EXPECT_THAT(apply("x2", "add", {"8,3", "4"}),
              HasSubstr("dim 1 of the result cannot be both 3 and 4 as in operand 1 f32[4]"));
  EXPECT_THAT(apply("x2", "add", {"8", "1@x"}),
              HasSubstr("operand 1 f32[1@x] is broadcast along dim 0 (size 1 to 8)"));
}

TEST(PlanElementwise, TakesUnevenDims) {
  EXPECT_EQ(apply("x3", "add", {"64@x,7", "7{R:x}"}), "- | - -> 64@x,7");
  EXPECT_EQ(apply("x3", "mul", {"7@x", "7"}), "- | slice x 0 -> 7@x");
}

TEST(PlanElementwise, RefusesToSliceWhatIsSplitElsewhere) {
  EXPECT_THAT(apply("x2,y2", "mul", {"8@x,2", "8,2@y", "8@x,2@y"}), HasSubstr("-> 8@x,2@y"));
  EXPECT_THAT(apply("x2,y2", "mul", {"4@(x,y),4", "4,4{U:y}"}),
              HasSubstr("operand 0 f32[4@(x,y),4] should be reduced"));
}

TEST(PlanElementwise, TakesOneElementType) {
  std::vector<TensorType> operands = {type("8"), type("8")};
  operands[1].dtype = DType::kBFloat16;
  EXPECT_EQ(
      text_of(plan_elementwise(mesh_of("x2"), "mul", operands, Algebra::kProduct), mesh_of("x2")),
      "! mul: the operands' element types differ: f32 and bf16 of operand 1 bf16[8]; cast one "
      "of them");
  operands[0].dtype = operands[1].dtype = DType::kInt64;
  EXPECT_EQ(
      text_of(plan_elementwise(mesh_of("x2"), "div", operands, Algebra::kQuotient), mesh_of("x2")),
      "! div: expected floats, found i64[8]; cast it with to()");
  EXPECT_FALSE(plan_elementwise(mesh_of("x2"), "add", {}, Algebra::kSum));
}

TEST(PlanElementwise, ChoosesByAMaskThatNoGradientIsOwedTo) {
  EXPECT_EQ(choose("x2", {"8", "8{R:x}", "8{R:x}"}), "- | - | - -> 8{R:x}");
  EXPECT_EQ(choose("x2", {"8", "4@x,8", "4@x,8"}), "- | - | - -> 4@x,8");
  EXPECT_EQ(choose("x2", {"", "8@x", "8@x"}), "- | - | - -> 8@x");
  EXPECT_EQ(choose("x2", {"8@x", "8@x", ""}), "- | - | mark_reduced x -> 8@x");
  EXPECT_THAT(choose("x2,y2", {"8@x", "8@y", "8@y"}), HasSubstr("over x by operand 0 bool[8@x]"));
  const std::vector<TensorType> floats = {type("8"), type("8"), type("8")};
  EXPECT_EQ(
      text_of(plan_elementwise(mesh_of("x2"), "where", floats, Algebra::kChoice), mesh_of("x2")),
      "! where: operand 0 f32[8] chooses and should be bool");
}

TEST(PlanElementwise, ChoosesBetweenEqualUnfinishedSumsByAMaskThatIsEqualOnTheirRanks) {
  EXPECT_EQ(choose("x2", {"8", "8{U:x}", "8{U:x}"}), "- | - | - -> 8{U:x}");
  EXPECT_EQ(choose("x2,y2", {"8@y", "8@y{U:x}", "{U:x}"}), "- | - | mark_reduced y -> 8@y{U:x}");
  EXPECT_THAT(choose("x2", {"8", "8{U:x}", "8"}), HasSubstr("operand 2 f32[8] is not"));
  EXPECT_EQ(choose("x2", {"8@x", "{U:x}", "{U:x}"}),
            "! where: operand 0 bool[8@x] must be equal on all ranks of x, over which the choices "
            "are unreduced; reshard it, or finish the sums first");
}

TEST(PlanElementwise, TestsWithoutMarkingCopies) {
  EXPECT_EQ(apply("x2", "less", {"4@x,8", "8"}), "- | - -> 4@x,8");
  EXPECT_EQ(apply("x2", "less", {"8{R:x}", "8"}), "- | - -> 8");
  EXPECT_EQ(apply("x2", "less", {"8@x", "8"}), "- | slice x 0 -> 8@x");
  EXPECT_THAT(apply("x2", "less", {"8{U:x}", "8{U:x}"}), HasSubstr("reshard it to finish the sum"));
  EXPECT_EQ(
      plan_elementwise(
          mesh_of("x2"), "less", std::vector<TensorType>{type("8"), type("8")}, Algebra::kTest)
          ->local_result.dtype,
      DType::kBool);
}

}  // namespace
}  // namespace brigade::sharding
