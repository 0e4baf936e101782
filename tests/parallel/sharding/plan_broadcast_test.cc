// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/sharding/shape_plan.h"
#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::HasSubstr;

std::string broadcast(const std::string& from,
                      const Shape& shape,
                      const std::string& out = "none",
                      const std::string& mesh = "x2,y2") {
  return text_of(
      plan_broadcast(mesh_of(mesh),
                     type(from),
                     shape,
                     out == "none" ? std::nullopt : std::optional<PartitionSpec>(spec(out))),
      mesh_of(mesh));
}

TEST(PlanBroadcast, E5_new_dims_are_whole) {
  EXPECT_EQ(broadcast("8@x,2@y", {3, 8, 2}), "- -> 3,8@x,2@y");
  EXPECT_EQ(broadcast("8@x,1", {8, 5}), "- -> 8@x,5");
  EXPECT_EQ(broadcast("", {4, 3}), "- -> 4,3");
}

TEST(PlanBroadcast, E6_a_reduced_operand_gives_a_plain_result_on_a_new_dim_split_over_its_axis) {
  EXPECT_EQ(broadcast("8{R:x}", {2, 8}, "2@x,8", "x2"), "- -> 2@x,8");
  EXPECT_EQ(broadcast("8", {2, 8}, "2@x,8", "x2"), "mark_reduced x -> 2@x,8");
}

TEST(PlanBroadcast, SplitsNewDimsAsOutSaysOverAxesOfCopies) {
  EXPECT_EQ(broadcast("8@x", {4, 8}, "4@y,8@x"), "mark_reduced y -> 4@y,8@x");
  EXPECT_EQ(broadcast("8,1", {8, 6}, "8,6@(x,y)"), "mark_reduced x,y -> 8,6@(x,y)");
  EXPECT_EQ(broadcast("8{U:x}", {4, 8}, "4@x,8"), "- -> 4,8{U:x} -> reduce_scatter x 0");
  EXPECT_EQ(broadcast("8", {4, 8}, "4,8@x"), "- -> 4,8 -> slice x 1");
  EXPECT_EQ(broadcast("8{R:x}", {4, 8}, "4@y,8{R:x}"), "mark_reduced y -> 4@y,8{R:x}");
}

TEST(PlanBroadcast, KeepsTheSets) {
  EXPECT_EQ(broadcast("8{U:x, R:y}", {4, 8}), "- -> 4,8{U:x, R:y}");
}

TEST(PlanBroadcast, RefusesWhatCannotBeRepeated) {
  EXPECT_EQ(broadcast("1@x,3", {4, 3}),
            "! broadcast of f32[1@x,3] to (4, 3): dim 0 of the operand is split over x and cannot "
            "be repeated; reshard it first");
  EXPECT_THAT(broadcast("2,3", {4, 3}), HasSubstr("dim 0 of the operand is neither 1 nor 4"));
  EXPECT_THAT(broadcast("2,3", {3}), HasSubstr("must not have fewer dims"));
  EXPECT_THAT(broadcast("3", {-1, 3}), HasSubstr("a dim of the result cannot be of size -1"));
  EXPECT_THAT(broadcast("3", {2, 3}, "2@z,3"), HasSubstr("out=: axis \"z\""));
  EXPECT_THAT(broadcast("3{R:x}", {2, 3}, "2,3"), HasSubstr("no cast leads from"));
}

}  // namespace
}  // namespace brigade::sharding
