// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/loop_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::HasSubstr;

TEST(LoopPlan, H8_a_scanned_dim_is_whole_and_a_carry_keeps_its_type) {
  const mesh::Mesh mesh = mesh_of("x2");
  EXPECT_EQ(text_of(value_or_throw(check_scanned(mesh, type("8,4@x"))), mesh), "4@x");
  EXPECT_EQ(check_scanned(mesh, type("8@x,4")).error().text,
            "scan: dim 0 of f32[8@x,4] is split over x (2 parts); reshard it first, or work on the "
            "parts in shard_map");
  EXPECT_EQ(check_carry("scan", mesh, 3, type("8@x"), type("8")).error().text,
            "scan: turn 3 was given a carry f32[8@x] and hands on f32[8]; a carry keeps its type: "
            "reshard it at the end of the turn");
}

TEST(LoopPlan, TakesACarryThatIsASum) {
  EXPECT_TRUE(check_carry("layer_loop", mesh_of("x2"), 0, type("8{U:x}"), type("8{U:x}")));
}

TEST(LoopPlan, RefusesToScanAScalar) {
  EXPECT_THAT(check_scanned(mesh_of("x2"), type("")).error().text, HasSubstr("has no dim 0"));
}

}  // namespace
}  // namespace brigade::sharding
