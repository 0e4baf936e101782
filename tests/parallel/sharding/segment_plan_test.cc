// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/segment_plan.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::HasSubstr;

std::string segment_sum(const std::string& mesh,
                        const std::string& values,
                        const std::string& ids,
                        int64_t segments,
                        const std::string& out = "none") {
  TensorType integers = type(ids);
  integers.dtype = DType::kInt64;
  return text_of(
      plan_segment_sum(mesh_of(mesh),
                       type(values),
                       integers,
                       segments,
                       out == "none" ? std::nullopt : std::optional<PartitionSpec>(spec(out))),
      mesh_of(mesh));
}

TEST(PlanSegmentSum, I6_values_split_as_their_ids_leave_a_term_per_rank) {
  EXPECT_EQ(segment_sum("x4", "8@x", "8@x", 4, "4{U:x}"), "- | - -> 4{U:x}");
  EXPECT_EQ(segment_sum("x4", "8@x", "8", 4, "4{U:x}"), "slice x 0 | - -> 4{U:x}");
  EXPECT_EQ(segment_sum("x4", "8@x", "8@x", 4, "4"), "- | - -> 4{U:x} -> all_reduce x");
  EXPECT_EQ(segment_sum("x4", "8@x", "8@x", 4, "4@x"), "- | - -> 4{U:x} -> reduce_scatter x 0");
  EXPECT_THAT(segment_sum("x4", "8@x", "8@x", 4), HasSubstr("say with out="));
}

TEST(PlanSegmentSum, CutsWholeValuesAsTheirIds) {
  EXPECT_EQ(segment_sum("x2", "8,3", "8@x", 4, "4,3"), "- | slice x 0 -> 4,3{U:x} -> all_reduce x");
}

TEST(PlanSegmentSum, CarriesSplitFeaturesAndCopies) {
  EXPECT_EQ(segment_sum("x2,y2", "8,3@y", "8", 4), "- | - -> 4,3@y");
  EXPECT_EQ(segment_sum("x2,y2", "8,3{R:y}", "8", 4), "- | - -> 4,3{R:y}");
}

TEST(PlanSegmentSum, RefusesOtherOperands) {
  EXPECT_EQ(segment_sum("x2,y2", "8@x", "8@y", 4, "4"),
            "! segment_sum: operand 0 i64[8@y] and operand 1 f32[8@x] split their rows over "
            "different axes; reshard one of them");
  EXPECT_THAT(segment_sum("x2", "8", "7", 4), HasSubstr("expected ids (n), values (n"));
  EXPECT_THAT(segment_sum("x2", "8", "8", -1), HasSubstr("and -1"));
  EXPECT_THAT(segment_sum("x2", "8{U:x}", "8", 4), HasSubstr("is unreduced over x"));
}

}  // namespace
}  // namespace brigade::sharding
