// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/embedding_plan.h"

#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::HasSubstr;

std::string lookup(const std::string& mesh,
                   const std::string& table,
                   const std::string& tokens,
                   const std::string& out = "none") {
  TensorType ids = type(tokens);
  ids.dtype = DType::kInt64;
  return text_of(
      plan_embedding(mesh_of(mesh),
                     type(table),
                     ids,
                     out == "none" ? std::nullopt : std::optional<PartitionSpec>(spec(out))),
      mesh_of(mesh));
}

TEST(PlanEmbedding, LooksUpAWholeTable) {
  EXPECT_EQ(lookup("d2", "64,16", "8,4"), "- | - -> 8,4,16");
  EXPECT_EQ(lookup("d2", "64,16", "8@d,4"), "- | mark_reduced d -> 8@d,4,16");
}

TEST(PlanEmbedding, PassesAReducedTableFree) {
  EXPECT_EQ(lookup("x2", "2048,64{R:x}", "4@x,128"), "- | - -> 4@x,128,64");
  EXPECT_EQ(lookup("x2", "2048,64{R:x}", "4,128"), "- | - -> 4,128,64{R:x}");
}

TEST(PlanEmbedding, CarriesSplitFeatures) {
  EXPECT_EQ(lookup("d2,t2", "64,16@t{R:d}", "8@d,4"), "- | - -> 8@d,4,16@t");
}

TEST(PlanEmbedding, LeavesATermPerPartOfTheVocabulary) {
  EXPECT_EQ(lookup("d2,t2", "64@t,16{R:d}", "8@d,4"), "- | - -> 8@d,4,16{U:t}");
  EXPECT_EQ(lookup("d2,t2", "50257@t,16{R:d}", "8@d,4", "8@d,4,16"),
            "- | - -> 8@d,4,16{U:t} -> all_reduce t");
  EXPECT_EQ(lookup("d2,t2", "64@t,16{R:d}", "8@d,4", "8@d,4@t,16"),
            "- | - -> 8@d,4,16{U:t} -> reduce_scatter t 1");
}

TEST(PlanEmbedding, GathersFeaturesStoredOverABatchAxisWhenOutSaysSo) {
  EXPECT_EQ(lookup("d2,t2", "64@t,16@d", "8@d,4", "8@d,4,16{U:t}"),
            "- | gather_reduced d 1 -> 8@d,4,16{U:t}");
  EXPECT_THAT(lookup("d2,t2", "64@t,16@d", "8@d,4"),
              HasSubstr("would be illegally sharded: axis \"d\" (size 2) is used twice"));
}

TEST(PlanEmbedding, NeverMovesTokens) {
  EXPECT_THAT(lookup("d2", "64,16@d", "8@d,4", "8,4,16@d"),
              HasSubstr("would move i64[8@d,4]; reshard them first"));
}

TEST(PlanEmbedding, RefusesOtherOperands) {
  EXPECT_THAT(lookup("d2", "64", "8"), HasSubstr("expected a table of 2 dims"));
  EXPECT_THAT(lookup("d2", "64@d,16", "8@d"), HasSubstr("axis \"d\""));
  EXPECT_THAT(text_of(plan_embedding(mesh_of("d2"), type("64,16"), type("8"), {}), mesh_of("d2")),
              HasSubstr("indices must be i64 or i32, found f32[8]"));
}

}  // namespace
}  // namespace brigade::sharding
