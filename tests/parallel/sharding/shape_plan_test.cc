// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/shape_plan.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::HasSubstr;

std::string result(const std::string& mesh, const Result<OpPlan>& plan) {
  if (!plan) {
    return "! " + plan.error().text;
  }
  for (const Casts& casts : plan->inputs) {
    EXPECT_TRUE(casts.empty());
  }
  EXPECT_TRUE(plan->output.empty());
  return text_of(plan->local_result, mesh_of(mesh));
}

std::string transpose(const std::string& from, const std::vector<int64_t>& order) {
  const std::string mesh = "x2,y2,z2";
  return result(mesh, plan_transpose(mesh_of(mesh), type(from), order));
}

std::string concat_of(const std::string& mesh, const std::vector<std::string>& parts, int64_t dim) {
  std::vector<TensorType> types;
  for (const std::string& part : parts) {
    types.push_back(type(part));
  }
  return result(mesh, plan_concat(mesh_of(mesh), types, dim));
}

std::string slice(const std::string& from, int64_t dim, int64_t begin, int64_t end) {
  return result("x2,y2", plan_slice(mesh_of("x2,y2"), type(from), dim, begin, end));
}

TEST(PlanTranspose, PermutesAxesWithDimsInRowG20) {
  EXPECT_EQ(transpose("4@x,2@y,2@z", {1, 2, 0}), "2@y,2@z,4@x");
  EXPECT_EQ(transpose("4@x,3{U:y, R:z}", {1, 0}), "3,4@x{U:y, R:z}");
  EXPECT_EQ(transpose("", {}), "");
}

TEST(PlanTranspose, RefusesWhatIsNoPermutation) {
  EXPECT_EQ(transpose("4,3", {0, 0}), "! transpose: (0, 0) is no order of the 2 dims of f32[4,3]");
  EXPECT_THAT(transpose("4,3", {0}), HasSubstr("no order"));
  EXPECT_THAT(transpose("4,3", {0, 2}), HasSubstr("no order"));
  EXPECT_THAT(transpose("4@w,3", {0, 1}), HasSubstr("axis \"w\""));
}

TEST(PlanConcat, JoinsOperandsOfEqualSpecsAlongAWholeDim) {
  EXPECT_EQ(concat_of("x2,y2", {"4@x,3", "4@x,5"}, 1), "4@x,8");
  EXPECT_EQ(concat_of("x2,y2", {"4@x,3{U:y}", "4@x,5{U:y}"}, 1), "4@x,8{U:y}");
}

TEST(PlanConcat, CountsAnAxisOfSizeOneInRowH4) {
  EXPECT_EQ(concat_of("x2,y1", {"4@x,4@y", "4@x,1@y"}, 1), "4@x,5@y");
  EXPECT_EQ(
      concat_of("x2,y1", {"4@x,4@y", "4@x,1"}, 1),
      "! concat along dim 1: all operands should have the same sharding, element type and other "
      "sizes; operand 0 is f32[4@x,4@y], operand 1 is f32[4@x,1]; reshard one of them");
}

TEST(PlanConcat, RefusesASplitDimAndOtherOperands) {
  EXPECT_EQ(concat_of("x2", {"4@x,3", "4@x,3"}, 0),
            "! concat: dim 0 of f32[4@x,3] is split over x (2 parts); reshard it first, or work on "
            "the parts in shard_map");
  EXPECT_THAT(concat_of("x2", {"4,3", "5,3"}, 1), HasSubstr("operand 1 is f32[5,3]"));
  EXPECT_THAT(concat_of("x2", {"4,3", "4"}, 0), HasSubstr("operand 1 is f32[4]"));
  EXPECT_THAT(concat_of("x2", {"4{U:x}", "4"}, 0), HasSubstr("same sharding"));
  EXPECT_THAT(concat_of("x2", {"4"}, 1), HasSubstr("has no dim 1"));
  EXPECT_THAT(concat_of("x2", {}, 0), HasSubstr("expected an operand"));
}

TEST(PlanSlice, CutsWholeDimsAloneInRowH1) {
  EXPECT_EQ(slice("4@x,4", 1, 0, 3), "4@x,3");
  EXPECT_EQ(slice("4@x,4{R:y}", 1, 1, 1), "4@x,0{R:y}");
  EXPECT_EQ(slice("4@x,4@y", 1, 0, 4), "4@x,4@y");
  EXPECT_THAT(slice("4@x,4@y", 1, 0, 3), HasSubstr("is split over y (2 parts)"));
  EXPECT_THAT(slice("4,4@(x,y)", 1, 0, 3), HasSubstr("is split over x, y (4 parts)"));
  EXPECT_THAT(slice("4,4", 1, 2, 5), HasSubstr("[2, 5) is not within dim 1 of f32[4,4]"));
  EXPECT_THAT(slice("4,4", 2, 0, 1), HasSubstr("has no dim 2"));
}

}  // namespace
}  // namespace brigade::sharding
