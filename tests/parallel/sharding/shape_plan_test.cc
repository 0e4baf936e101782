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

TEST(PlanTranspose, G20_axes_are_permuted_with_their_dims) {
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

TEST(PlanConcat, H4_a_dim_is_split_only_by_an_axis_larger_than_one) {
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

TEST(PlanSlice, H1_whole_dims_alone_are_sliced) {
  EXPECT_EQ(slice("4@x,4", 1, 0, 3), "4@x,3");
  EXPECT_EQ(slice("4@x,4{R:y}", 1, 1, 1), "4@x,0{R:y}");
  EXPECT_EQ(slice("4@x,4@y", 1, 0, 4), "4@x,4@y");
  EXPECT_THAT(slice("4@x,4@y", 1, 0, 3), HasSubstr("is split over y (2 parts)"));
  EXPECT_THAT(slice("4,4@(x,y)", 1, 0, 3), HasSubstr("is split over x, y (4 parts)"));
  EXPECT_THAT(slice("4,4", 1, 2, 5), HasSubstr("[2, 5) is not within dim 1 of f32[4,4]"));
  EXPECT_THAT(slice("4,4", 2, 0, 1), HasSubstr("has no dim 2"));
}

TEST(PlanExpandDims, E5_a_new_dim_is_whole) {
  const auto expand = [](int64_t dim) {
    return result("x2,y2", plan_expand_dims(mesh_of("x2,y2"), type("8@x,2@y"), dim));
  };
  EXPECT_EQ(expand(0), "1,8@x,2@y");
  EXPECT_EQ(expand(1), "8@x,1,2@y");
  EXPECT_EQ(expand(2), "8@x,2@y,1");
  EXPECT_EQ(expand(3), "! expand_dims: a new dim of f32[8@x,2@y] is 0 to 2, found 3");
}

TEST(PlanSqueeze, DropsADimOfSizeOneThatIsWhole) {
  const auto squeeze = [](const std::string& from, int64_t dim) {
    return result("x2,y1", plan_squeeze(mesh_of("x2,y1"), type(from), dim));
  };
  EXPECT_EQ(squeeze("8@x,1,2{U:y}", 1), "8@x,2{U:y}");
  EXPECT_EQ(squeeze("1,0@x", 0), "0@x");
  EXPECT_EQ(squeeze("1@y,4@x", 0), "4@x");
  EXPECT_THAT(squeeze("1@x,4", 0), HasSubstr("squeeze: dim 0 of f32[1@x,4] is split over x"));
  EXPECT_THAT(squeeze("2,4", 0), HasSubstr("is not of size 1"));
  EXPECT_THAT(squeeze("2,4", 2), HasSubstr("has no dim 2"));
}

TEST(PlanStack, AddsAWholeDim) {
  const auto stack = [](const std::vector<TensorType>& parts, int64_t dim) {
    return result("x2", plan_stack(mesh_of("x2"), parts, dim));
  };
  EXPECT_EQ(stack({type("4@x,3"), type("4@x,3")}, 0), "2,4@x,3");
  EXPECT_EQ(stack({type("4,3{U:x}"), type("4,3{U:x}")}, 2), "4,3,2{U:x}");
  EXPECT_EQ(stack({type("4@x"), type("4")}, 0),
            "! stack: all operands should have the same type; operand 0 is f32[4@x], operand 1 is "
            "f32[4]; reshard one of them");
  EXPECT_THAT(stack({type("4")}, 2), HasSubstr("a new dim of f32[4] is 0 to 1, found 2"));
  EXPECT_THAT(stack({}, 0), HasSubstr("expected an operand"));
}

}  // namespace
}  // namespace brigade::sharding
