// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/lookup_plan.h"

#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::HasSubstr;

TensorType integers(const std::string& text) {
  TensorType ids = type(text);
  ids.dtype = DType::kInt64;
  return ids;
}

std::optional<PartitionSpec> maybe(const std::string& out) {
  return out == "none" ? std::nullopt : std::optional<PartitionSpec>(spec(out));
}

std::string take(const std::string& mesh,
                 const std::string& table,
                 const std::string& indices,
                 int64_t dim,
                 const std::string& out = "none") {
  return text_of(plan_take(mesh_of(mesh), type(table), integers(indices), dim, maybe(out)),
                 mesh_of(mesh));
}

std::string take_along(const std::string& mesh,
                       const std::string& table,
                       const std::string& indices,
                       int64_t dim,
                       const std::string& out = "none") {
  return text_of(plan_take_along(mesh_of(mesh), type(table), integers(indices), dim, maybe(out)),
                 mesh_of(mesh));
}

TEST(PlanTake, H5_a_whole_dim_of_a_split_table_is_looked_up_in) {
  EXPECT_EQ(take("x2,y2", "64@x,16", "8,4", 1), "- | - -> 64@x,8,4");
  EXPECT_EQ(take_along("x2,y2", "64@x,16", "64@x,4", 1), "- | - -> 64@x,4");
}

TEST(PlanTake, H6_split_indices_ask_for_out) {
  EXPECT_EQ(take("x2", "64,16@x", "8@x,4", 0, "8@x,4,16"), "- | gather_reduced x 1 -> 8@x,4,16");
  EXPECT_EQ(take("x2", "4,2", "2@x", 0),
            "! take along dim 0: indices i64[2@x] are split over x, f32[4,2] is not: say with out= "
            "that the result is too, or reshard them");
  EXPECT_EQ(take("x2", "4,2", "2@x", 0, "2@x,2"), "- | mark_reduced x -> 2@x,2");
}

TEST(PlanTake, H7_a_reduced_table_passes_free) {
  EXPECT_EQ(take("x2", "2048,64{R:x}", "4@x,128", 0, "4@x,128,64"), "- | - -> 4@x,128,64");
  EXPECT_EQ(take("x2", "2048,64{R:x}", "4,128", 0), "- | - -> 4,128,64{R:x}");
}

TEST(PlanTake, LeavesATermPerPartOfASplitDim) {
  EXPECT_EQ(take("x2", "9@x,4", "5", 0, "5,4{U:x}"), "- | - -> 5,4{U:x}");
  EXPECT_EQ(take("x2", "9@x,4", "5", 0, "5@x,4"), "- | - -> 5,4{U:x} -> reduce_scatter x 0");
  EXPECT_EQ(take("x2", "9@x,4", "5", 0, "5,4"), "- | - -> 5,4{U:x} -> all_reduce x");
  EXPECT_THAT(take("x2", "9@x,4", "5", 0),
              HasSubstr("dim 0 of f32[9@x,4], in which i64[5] look up, is split over x, so each "
                        "rank has one term of a sum: say with out="));
}

TEST(PlanTake, GathersADimSplitOverTheIndicesAxis) {
  EXPECT_EQ(take("x2", "8@x,4", "6@x", 0, "6@x,4"), "- | gather_reduced x 0 -> 6@x,4");
  EXPECT_EQ(take("x2,y2", "8@(y,x),4", "6@x", 0, "6@x,4{U:y}"),
            "- | gather_reduced x 0 -> 6@x,4{U:y}");
}

TEST(PlanTake, NeverMovesIndices) {
  EXPECT_EQ(take("x2", "8,4@x", "6@x", 0, "6,4@x"),
            "! take along dim 0: the result asks for indices as i64[6] and would move i64[6@x]; "
            "reshard them first");
}

TEST(PlanTake, RefusesOtherOperands) {
  EXPECT_THAT(take("x2", "8", "6", 1), HasSubstr("has no dim 1"));
  EXPECT_THAT(take("x2", "8{U:x}", "6", 0), HasSubstr("is unreduced over x"));
  EXPECT_THAT(text_of(plan_take(mesh_of("x2"), type("8"), type("6"), 0, {}), mesh_of("x2")),
              HasSubstr("indices must be i64 or i32, found f32[6]"));
}

TEST(PlanTakeAlong, CutsWholeDimsAsTheOthers) {
  EXPECT_EQ(take_along("x2", "8@x,9", "8,1", 1), "slice x 0 | - -> 8@x,1");
  EXPECT_EQ(take_along("x2", "8,9", "8@x,1", 1), "- | slice x 0 -> 8@x,1");
  EXPECT_THAT(take_along("x2,y2", "8@x,9", "8@y,1", 1),
              HasSubstr("batch dims need consistent sharding"));
}

TEST(PlanTakeAlong, PicksTargetsOverASplitDim) {
  EXPECT_EQ(take_along("d2,t2", "4@d,8,50257@t", "4@d,8,1", 2, "4@d,8,1"),
            "- | - -> 4@d,8,1{U:t} -> all_reduce t");
  EXPECT_EQ(take_along("d2,t2", "4@d,8,50257@t", "4@d,8,1", 2, "4@d,8,1{U:t}"),
            "- | - -> 4@d,8,1{U:t}");
  EXPECT_THAT(take_along("d2,t2", "4@d,8,50257@t", "4@d,8,1", 2), HasSubstr("say with out="));
  EXPECT_THAT(take_along("x2", "8,9", "8,4@x", 1), HasSubstr("say with out="));
}

TEST(PlanTakeAlong, RefusesIndicesOfOtherSizes) {
  EXPECT_EQ(take_along("x2", "8,9", "7,2", 1),
            "! take_along dim 1: expected indices of the table's sizes but for dim 1, found "
            "i64[7,2] in f32[8,9]");
  EXPECT_THAT(take_along("x2", "8,9", "8", 1), HasSubstr("found i64[8] in f32[8,9]"));
}

}  // namespace
}  // namespace brigade::sharding
