// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/sharding/shape_plan.h"
#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// With its casts, for a result as `out`.
std::string reshape_to(const std::string& mesh,
                       const std::string& from,
                       const Shape& shape,
                       const std::string& out) {
  return text_of(plan_reshape(mesh_of(mesh), type(from), shape, spec(out)), mesh_of(mesh));
}

std::string reshape(const std::string& mesh, const std::string& from, const Shape& shape) {
  const Result<OpPlan> plan = plan_reshape(mesh_of(mesh), type(from), shape);
  return plan ? text_of(plan->local_result, mesh_of(mesh)) : "! " + plan.error().text;
}

TEST(PlanReshape, G1_a_split_of_a_whole_dim_leaves_the_others) {
  EXPECT_EQ(reshape("x2,y2", "4@x,6,8@y", {4, 2, 3, 8}), "4@x,2,3,8@y");
}

TEST(PlanReshape, G2_a_split_gives_the_axis_to_the_leading_new_dim) {
  EXPECT_EQ(reshape("x2,y2", "4@x,6@y,8", {4, 2, 3, 8}), "4@x,2@y,3,8");
}

TEST(PlanReshape, G3_a_split_that_does_not_divide_is_refused) {
  EXPECT_EQ(
      reshape("x2,y2", "4@x,6@y,8", {4, 3, 2, 8}),
      "! reshape of f32[4@x,6@y,8] to (4, 3, 2, 8): new dim 1 of size 3 does not divide over y "
      "(size 2), which splits dim 1; reshard it first, or say with out= how the result is split");
}

TEST(PlanReshape, G4_a_split_gives_both_axes_to_the_leading_new_dim) {
  EXPECT_EQ(reshape("x2,y2", "4,12@(x,y),8", {4, 4, 3, 8}), "4,4@(x,y),3,8");
}

TEST(PlanReshape, G5_a_split_leaves_a_dim_of_size_one_behind_it) {
  EXPECT_EQ(reshape("x2,y2", "10@x,1", {2, 5, 1}), "2@x,5,1");
}

TEST(PlanReshape, G7_a_split_fills_the_leading_new_dim_first) {
  EXPECT_EQ(reshape("x2,y2", "8@(x,y)", {2, 4}), "2@x,4@y");
}

TEST(PlanReshape, G8_a_split_gives_all_axes_to_a_leading_new_dim_with_room) {
  EXPECT_EQ(reshape("x2,y2", "8@(x,y)", {4, 2}), "4@(x,y),2");
}

TEST(PlanReshape, G9_a_split_hands_the_rest_of_the_axes_on) {
  EXPECT_EQ(reshape("x2,y2,z2", "8@(x,y,z)", {2, 4}), "2@x,4@(y,z)");
}

TEST(PlanReshape, G11_a_merge_of_whole_dims_leaves_the_others) {
  EXPECT_EQ(reshape("x2,y2", "4@x,2,3,8@y", {4, 6, 8}), "4@x,6,8@y");
}

TEST(PlanReshape, G13_a_merge_of_leading_whole_dims_leaves_the_others) {
  EXPECT_EQ(reshape("x2,y2", "2,2,6@y,8@x", {4, 6, 8}), "4,6@y,8@x");
}

TEST(PlanReshape, G14_a_merge_joins_the_axes_of_a_fully_split_dim_and_the_next) {
  EXPECT_EQ(reshape("x2,y2", "2@x,4@y", {8}), "8@(x,y)");
}

TEST(PlanReshape, G15_a_merge_across_a_whole_dim_is_refused) {
  EXPECT_THAT(reshape("x2,y2", "2@x,2,2@y", {8}),
              HasSubstr("dim 1 of size 2 is in 1 parts; to merge with dims behind it, it must be "
                        "split to single elements"));
}

TEST(PlanReshape, G16_a_merge_of_a_whole_dim_before_a_split_one_is_refused) {
  EXPECT_THAT(reshape("x2,y2", "4,2,6@y,8@x", {4, 12, 8}), HasSubstr("dim 1 of size 2 is in 1"));
}

TEST(PlanReshape, G17_two_changes_are_refused) {
  for (const Shape& shape : {Shape{4, 4, 2, 6}, Shape{4, 2, 3, 4, 2}}) {
    EXPECT_THAT(reshape("x2", "4@x,6,8", shape), HasSubstr("this reshape is not supported"));
  }
  EXPECT_THAT(reshape("x2", "4@x,8,9", {4, 2, 2, 3, 3, 2}),
              AllOf(HasSubstr("not supported"), HasSubstr("out="), HasSubstr("reshard")));
}

TEST(PlanReshape, G18_dims_of_size_one_come_and_go_beside_a_split_dim) {
  EXPECT_EQ(reshape("x2", "16@x,1", {1, 16, 1}), "1,16@x,1");
}

TEST(PlanReshape, MergesTrailingWholeDimsIntoASplitOne) {
  EXPECT_EQ(reshape("x2,y2", "4@x,3", {12}), "12@x");
}

TEST(PlanReshape, RefusesMergesWhoseBlocksDoNotLineUp) {
  EXPECT_THAT(reshape("x2,y2", "4@x,2@y", {8}), HasSubstr("dim 0 of size 4 is in 2 parts"));
  EXPECT_THAT(reshape("x2", "3@x,2", {6}), HasSubstr("its size must divide"));
}

TEST(PlanReshape, CarriesAxesPastDimsOfSizeOne) {
  EXPECT_EQ(reshape("x2,y2", "8@x,2@y", {1, 8, 2}), "1,8@x,2@y");
  EXPECT_EQ(reshape("x2,y2", "8@x,2@y", {8, 1, 2}), "8@x,1,2@y");
  EXPECT_EQ(reshape("x2,y2", "8@x,2@y", {8, 2, 1}), "8@x,2@y,1");
  EXPECT_EQ(reshape("x2", "7@x,1", {7}), "7@x");
  EXPECT_THAT(reshape("x2", "1@x,4", {4}), HasSubstr("dim 0 of size 1 is split over x"));
}

TEST(PlanReshape, KeepsTheSets) {
  EXPECT_EQ(reshape("x2,y2", "6{U:x, R:y}", {2, 3}), "2,3{U:x, R:y}");
}

TEST(PlanReshape, PassesAxesOfSizeOneAlong) {
  EXPECT_EQ(reshape("x2,y1", "6@(y,x)", {2, 3}), "2@(y,x),3");
  EXPECT_EQ(reshape("x2,y1", "6@(x,y)", {2, 3}), "2@(x,y),3");
}

TEST(PlanReshape, RefusesShapesOfOtherSizes) {
  EXPECT_THAT(reshape("x2", "6", {2, 2}), HasSubstr("the numbers of elements differ"));
  EXPECT_THAT(reshape("x2", "0,3", {3, 0}), StartsWith("! "));
  EXPECT_EQ(reshape("x2", "0@x,3", {0, 1, 3}), "0@x,1,3");
}

TEST(PlanReshape, CastsTheResultToOut) {
  EXPECT_EQ(reshape_to("x2,y2", "8@(x,y)", {2, 4}, "2@x,4"), "- -> 2@x,4@y -> gather y 1");
  EXPECT_EQ(reshape_to("x2", "6", {2, 3}, "2@x,3"), "- -> 2,3 -> slice x 0");
  EXPECT_THAT(reshape_to("x2", "6{R:x}", {2, 3}, "2,3"),
              HasSubstr("reshape of f32[6]{R:x} to (2, 3): out=: no cast leads"));
  EXPECT_THAT(reshape_to("x2", "6", {2, 3}, "2,3@z"), HasSubstr("out=: axis \"z\""));
}

TEST(PlanReshape, GathersWhatOutLetsItOf) {
  EXPECT_EQ(reshape_to("x2,y2", "4@x,6@y,8", {4, 3, 2, 8}, "4@x,3,2@y,8"),
            "gather y 1 -> 4@x,3,2,8 -> slice y 2");
  EXPECT_EQ(reshape_to("x2,y2", "4@x,6@y,8", {4, 3, 2, 8}, "4@x,3,2,8{R:y}"),
            "gather_reduced y 1 -> 4@x,3,2,8{R:y}");
  EXPECT_EQ(reshape_to("x2,y2", "4@x,2@y", {8}, "8@x"), "gather y 1 -> 8@x");
  EXPECT_EQ(reshape_to("x2,y2", "2@x,2,2@y", {8}, "8@x"), "gather y 2 -> 8@x");
  EXPECT_EQ(reshape_to("x2", "1@x,4", {4}, "4"), "gather x 0 -> 4");
  EXPECT_EQ(reshape_to("x2", "0@x,3", {3, 0}, "3,0"), "gather x 0 -> 3,0");
}

TEST(PlanReshape, ChangesSeveralDimsAtOnceForOut) {
  EXPECT_EQ(reshape_to("x2", "4@x,6,8", {4, 4, 2, 6}, "4@x,4,2,6"), "- -> 4@x,4,2,6");
  EXPECT_EQ(reshape_to("x2", "4@x,6,8", {4, 2, 3, 4, 2}, "4@x,2,3,4,2"), "- -> 4@x,2,3,4,2");
  EXPECT_EQ(reshape_to("x2,y2", "4@x,6@y", {2, 12}, "2@x,12"), "gather y 1 -> 2@x,12");
  EXPECT_EQ(reshape_to("x4", "4@x,6", {8, 3}, "8@x,3"), "- -> 8@x,3");
  EXPECT_EQ(reshape_to("x3", "9@x,2", {2, 9}, "2,9@x"), "gather x 0 -> 2,9 -> slice x 1");
}

}  // namespace
}  // namespace brigade::sharding
