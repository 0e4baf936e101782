// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/sharding/shape_plan.h"
#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::HasSubstr;

std::string pad(const std::string& from, int64_t dim, const Padding& padding, bool zeros = true) {
  return text_of(plan_pad(mesh_of("x2,y1"), type(from), dim, padding, zeros), mesh_of("x2,y1"));
}

TEST(PlanPad, H2_a_split_dim_is_padded_where_old_and_new_size_divide) {
  EXPECT_EQ(pad("8@x", 0, {2, 2}), "gather x 0 -> 12 -> slice x 0");
  EXPECT_EQ(pad("8@x", 0, {0, 3}),
            "! pad: dim 0 of f32[8@x] is split over x; its size and the padded one, 11, must "
            "divide by 2; reshard it first");
  EXPECT_EQ(pad("8@x", 0, {0, 3, 1}), "gather x 0 -> 18 -> slice x 0");
  EXPECT_THAT(pad("7@x", 0, {0, 1}), HasSubstr("must divide by 2"));
}

TEST(PlanPad, MovesNothingOnAWholeDim) {
  EXPECT_EQ(pad("8@x,3", 1, {0, 2}), "- -> 8@x,5");
  EXPECT_EQ(pad("8@x,3{R:y}", 1, {1, 0, 2}), "- -> 8@x,8{R:y}");
  EXPECT_EQ(pad("3@y", 0, {0, 1}), "- -> 4@y");
  EXPECT_EQ(pad("8@x", 0, {}), "- -> 8@x");
  EXPECT_EQ(pad("0,2", 0, {1, 1, 3}), "- -> 2,2");
}

TEST(PlanPad, AddsZerosAloneToTheTermsOfASum) {
  EXPECT_EQ(pad("3{U:x}", 0, {0, 1}), "- -> 4{U:x}");
  EXPECT_THAT(pad("3{U:x}", 0, {0, 1}, false), HasSubstr("would be added once per term"));
}

TEST(PlanPad, RefusesNegativeNumbersAndOtherDims) {
  EXPECT_EQ(
      pad("3", 0, {-1, 1}),
      "! pad: dim 0 of f32[3]: expected numbers of elements, found low -1, high 1, interior 0");
  EXPECT_THAT(pad("3", 1, {}), HasSubstr("has no dim 1"));
}

}  // namespace
}  // namespace brigade::sharding
