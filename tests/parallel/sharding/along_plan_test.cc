// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/along_plan.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::HasSubstr;

std::string along(const std::string& op, const std::string& from, int64_t dim, bool linear) {
  return text_of(plan_along(mesh_of("x2,y2"), op, type(from), dim, linear, DType::kFloat32),
                 mesh_of("x2,y2"));
}

std::string unstack(const std::string& from, int64_t dim) {
  return text_of(plan_unstack(mesh_of("x2,y2"), type(from), dim), mesh_of("x2,y2"));
}

std::string tile(const std::string& from, const std::vector<int64_t>& repeats) {
  return text_of(plan_tile(mesh_of("x2,y2"), type(from), repeats), mesh_of("x2,y2"));
}

TEST(PlanAlong, H9_a_split_dim_is_refused_by_each_op) {
  for (const char* op : {"cumsum", "sort", "argsort", "roll"}) {
    EXPECT_EQ(along(op, "8@x,4", 0, true),
              std::string("! ") + op +
                  ": dim 0 of f32[8@x,4] is split over x (2 parts); reshard it first, or work on "
                  "the parts in shard_map");
  }
  EXPECT_EQ(unstack("8@x,4", 0),
            "! unstack: dim 0 of f32[8@x,4] is split over x (2 parts); reshard it first, or work "
            "on the parts in shard_map");
  EXPECT_EQ(tile("8@x,4", {2, 1}),
            "! tile: dim 0 of f32[8@x,4] is split over x (2 parts); reshard it first, or work on "
            "the parts in shard_map");
}

TEST(PlanAlong, KeepsTheTypeAlongAWholeDim) {
  EXPECT_EQ(along("cumsum", "8@x,4", 1, true), "- -> 8@x,4");
  EXPECT_EQ(along("cumsum", "8@x,4{U:y}", 1, true), "- -> 8@x,4{U:y}");
  EXPECT_THAT(along("sort", "8@x,4{U:y}", 1, false),
              HasSubstr("is unreduced over y, which only linear ops let through"));
  EXPECT_THAT(along("cumsum", "8@x,4{Umax:y}", 1, true), HasSubstr("is unreduced over y"));
  EXPECT_THAT(along("sort", "8@x,4", 2, false), HasSubstr("has no dim 2"));
}

TEST(PlanUnstack, DropsTheDim) {
  EXPECT_EQ(unstack("8@x,4,3@y", 1), "- -> 8@x,3@y");
  EXPECT_EQ(unstack("3,4{U:x}", 0), "- -> 4{U:x}");
  EXPECT_THAT(unstack("", 0), HasSubstr("has no dim 0"));
}

TEST(PlanTile, RepeatsWholeDims) {
  EXPECT_EQ(tile("8@x,4", {1, 3}), "- -> 8@x,12");
  EXPECT_EQ(tile("8,4{R:y}", {0, 1}), "- -> 0,4{R:y}");
  EXPECT_EQ(tile("8,4", {2}),
            "! tile: expected a number of repeats for each of the 2 dims of f32[8,4], found (2)");
  EXPECT_THAT(tile("8,4", {2, -1}), HasSubstr("dim 1 of f32[8,4] cannot be repeated -1 times"));
}

}  // namespace
}  // namespace brigade::sharding
