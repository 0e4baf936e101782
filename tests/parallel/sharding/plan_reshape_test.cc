// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/sharding/shape_plan.h"
#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string reshape(const std::string& mesh, const std::string& from, const Shape& shape) {
  const Result<OpPlan> plan = plan_reshape(mesh_of(mesh), type(from), shape);
  return plan ? text_of(plan->local_result, mesh_of(mesh)) : "! " + plan.error().text;
}

TEST(PlanReshape, SplitsOneDimWithTheAxesOnItsLeadingPartsInRowsG1ToG9) {
  EXPECT_EQ(reshape("x2,y2", "4@x,6,8@y", {4, 2, 3, 8}), "4@x,2,3,8@y");
  EXPECT_EQ(reshape("x2,y2", "4@x,6@y,8", {4, 2, 3, 8}), "4@x,2@y,3,8");
  EXPECT_EQ(
      reshape("x2,y2", "4@x,6@y,8", {4, 3, 2, 8}),
      "! reshape of f32[4@x,6@y,8] to (4, 3, 2, 8): new dim 1 of size 3 does not divide over y "
      "(size 2), which splits dim 1; reshard it first");
  EXPECT_EQ(reshape("x2,y2", "4,12@(x,y),8", {4, 4, 3, 8}), "4,4@(x,y),3,8");
  EXPECT_EQ(reshape("x2,y2", "10@x,1", {2, 5, 1}), "2@x,5,1");
  EXPECT_EQ(reshape("x2,y2", "8@(x,y)", {2, 4}), "2@x,4@y");
  EXPECT_EQ(reshape("x2,y2", "8@(x,y)", {4, 2}), "4@(x,y),2");
  EXPECT_EQ(reshape("x2,y2,z2", "8@(x,y,z)", {2, 4}), "2@x,4@(y,z)");
}

TEST(PlanReshape, MergesDimsThatAreFullySplitInRowsG11ToG16) {
  EXPECT_EQ(reshape("x2,y2", "4@x,2,3,8@y", {4, 6, 8}), "4@x,6,8@y");
  EXPECT_EQ(reshape("x2,y2", "2,2,6@y,8@x", {4, 6, 8}), "4,6@y,8@x");
  EXPECT_EQ(reshape("x2,y2", "2@x,4@y", {8}), "8@(x,y)");
  EXPECT_THAT(reshape("x2,y2", "2@x,2,2@y", {8}),
              HasSubstr("dim 1 of size 2 is in 1 parts; to merge with dims behind it, it must be "
                        "split to single elements"));
  EXPECT_THAT(reshape("x2,y2", "4,2,6@y,8@x", {4, 12, 8}), HasSubstr("dim 1 of size 2 is in 1"));
  EXPECT_EQ(reshape("x2,y2", "4@x,3", {12}), "12@x");
}

TEST(PlanReshape, RefusesMergesWhoseBlocksDoNotLineUp) {
  EXPECT_THAT(reshape("x2,y2", "4@x,2@y", {8}), HasSubstr("dim 0 of size 4 is in 2 parts"));
  EXPECT_THAT(reshape("x2", "3@x,2", {6}), HasSubstr("its size must divide"));
}

TEST(PlanReshape, RefusesMoreThanOneChangeInRowG17) {
  for (const Shape& shape : {Shape{4, 4, 2, 6}, Shape{4, 2, 3, 4, 2}}) {
    EXPECT_THAT(reshape("x2", "4@x,6,8", shape), HasSubstr("this reshape is not supported"));
  }
  EXPECT_THAT(reshape("x2", "4@x,8,9", {4, 2, 2, 3, 3, 2}), HasSubstr("not supported"));
}

TEST(PlanReshape, CarriesAxesPastDimsOfSizeOneInRowsG18AndE5) {
  EXPECT_EQ(reshape("x2", "16@x,1", {1, 16, 1}), "1,16@x,1");
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

}  // namespace
}  // namespace brigade::sharding
