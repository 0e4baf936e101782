// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/reduce_plan.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::HasSubstr;

std::string reduce(Reduction reduction,
                   const std::string& from,
                   const std::vector<int64_t>& dims,
                   const std::string& out = "none",
                   bool keep_dims = false) {
  const mesh::Mesh mesh = mesh_of("x2,y2");
  return text_of(
      plan_reduce(mesh,
                  reduction,
                  type(from),
                  dims,
                  keep_dims,
                  out == "none" ? std::nullopt : std::optional<PartitionSpec>(spec(out))),
      mesh);
}

TEST(PlanReduce, AllReducesWhereAReducedDimWasSplitInRowsF1ToF5) {
  const auto sum = [](const std::string& from, const std::vector<int64_t>& dims) {
    return reduce(Reduction::kSum, from, dims);
  };
  EXPECT_EQ(sum("8@x,2@y", {0, 1}), "- -> {U:x,y} -> all_reduce x,y");
  EXPECT_EQ(sum("8@x,2@y", {0}), "- -> 2@y{U:x} -> all_reduce x");
  EXPECT_EQ(sum("8@x,2@y", {1}), "- -> 8@x{U:y} -> all_reduce y");
  EXPECT_EQ(sum("8@(x,y),2", {1}), "- -> 8@(x,y)");
  EXPECT_EQ(sum("8{R:x}", {0}), "- -> {R:x}");
}

TEST(PlanReduce, TypesMaximaAsSumsInRowF6) {
  EXPECT_EQ(reduce(Reduction::kMax, "8@x,2@y", {0}), "- -> 2@y{Umax:x} -> all_reduce max x");
  const Result<OpPlan> plan =
      plan_reduce(mesh_of("x2"), Reduction::kMin, type("8@x"), std::vector<int64_t>{0}, false, {});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->output.at(0).reduction, Reduction::kMin);
  EXPECT_EQ(plan->reason, "min: a reduced dim is split over x");
}

TEST(PlanReduce, KeepsOrScattersTermsAsOutSaysInRowF8) {
  EXPECT_EQ(reduce(Reduction::kSum, "4@x,2@y,2", {0, 1}, "2{U:x}"),
            "- -> 2{U:x,y} -> all_reduce y");
  EXPECT_EQ(reduce(Reduction::kSum, "4@x,2", {0}, "2@x"), "- -> 2{U:x} -> reduce_scatter x 0");
  EXPECT_EQ(reduce(Reduction::kSum, "4@x,2{U:y}", {0}, "2{U:x,y}"), "- -> 2{U:x,y}");
}

TEST(PlanReduce, LetsSumsOfUnreducedTermsThroughAlone) {
  EXPECT_EQ(reduce(Reduction::kSum, "4{U:x}", {0}), "- -> {U:x}");
  EXPECT_EQ(reduce(Reduction::kMax, "4{U:x}", {0}),
            "! max: operand 0 f32[4]{U:x} holds terms of a sum over x, which only a sum lets "
            "through; reshard it to finish the sum");
  EXPECT_THAT(reduce(Reduction::kSum, "4@x", {0}, "{U:y}"),
              HasSubstr("is unreduced over y, which neither splits a reduced dim of operand 0"));
}

TEST(PlanReduce, F10_KeepsTermsOfAMaximumOnDemand) {
  EXPECT_EQ(reduce(Reduction::kMax, "4@x,2", {0}, "2{Umax:x}"), "- -> 2{Umax:x}");
  EXPECT_EQ(reduce(Reduction::kMin, "4@x,2@y", {0, 1}, "{Umin:x}"),
            "- -> {Umin:x,y} -> all_reduce min y");
  EXPECT_EQ(reduce(Reduction::kMax, "4@x,2", {0}, "2@x"),
            "- -> 2{Umax:x} -> reduce_scatter max x 0");
  EXPECT_EQ(reduce(Reduction::kMax, "4@x,2{Umax:y}", {0}, "2{Umax:x,y}"), "- -> 2{Umax:x,y}");
  EXPECT_EQ(reduce(Reduction::kMax, "4@x,2", {0}, "2{U:x}"),
            "! max: out= (){U:x} holds terms of a sum, but those of f32[2]{Umax:x} are a max's");
  EXPECT_EQ(reduce(Reduction::kSum, "2{Umax:x}", {0}),
            "! sum: operand 0 f32[2]{Umax:x} holds terms of a max over x, which only a max lets "
            "through; reshard it to finish the max");
}

TEST(PlanReduce, KeepsDimsOfSizeOneOnDemand) {
  EXPECT_EQ(reduce(Reduction::kSum, "8,2@y", {1}, "none", true), "- -> 8,1{U:y} -> all_reduce y");
}

TEST(PlanReduce, KnowsNoExtremeOfNoElements) {
  EXPECT_EQ(reduce(Reduction::kMax, "0,4", {0}),
            "! max: dim 0 of operand 0 f32[0,4] has no elements");
  EXPECT_EQ(reduce(Reduction::kMax, "0,4", {1}), "- -> 0");
  EXPECT_EQ(reduce(Reduction::kSum, "0,4", {0}), "- -> 4");
}

TEST(PlanReduce, CountsMasksInWholeNumbers) {
  TensorType mask = type("8@x");
  mask.dtype = DType::kBool;
  const std::vector<int64_t> dims = {0};
  EXPECT_EQ(plan_reduce(mesh_of("x2"), Reduction::kSum, mask, dims, false, {})->result().dtype,
            DType::kInt64);
  EXPECT_EQ(plan_reduce(mesh_of("x2"), Reduction::kMax, mask, dims, false, {})->result().dtype,
            DType::kBool);
}

TEST(PlanReduce, SpeaksUnderTheNameItIsGiven) {
  const std::vector<int64_t> dims = {0};
  const mesh::Mesh mesh = mesh_of("x2");
  EXPECT_EQ(plan_reduce(mesh, Reduction::kSum, type("8@x"), dims, false, {}, "mean")->reason,
            "mean: a reduced dim is split over x");
}

std::string index_of(const std::string& from, int64_t dim, bool keep_dim = false) {
  const mesh::Mesh mesh = mesh_of("x2,y2");
  return text_of(plan_index_of_extreme(mesh, "argmax", type(from), dim, keep_dim), mesh);
}

TEST(PlanIndexOfExtreme, TypesArgmaxAndArgminInRowF7) {
  EXPECT_EQ(index_of("8@x,2@y", 0), "- -> 2@y{Umin:x} -> all_reduce min x");
  EXPECT_EQ(index_of("8@x,2@y", 1), "- -> 8@x{Umin:y} -> all_reduce min y");
  EXPECT_EQ(index_of("8@x,2", 1), "- -> 8@x");
  EXPECT_EQ(index_of("8@x,2", 1, true), "- -> 8@x,1");
  EXPECT_EQ(index_of("8{R:x}", 0), "- -> ");
}

TEST(PlanIndexOfExtreme, JoinsWholeNumbersByTheirMinimum) {
  const Result<OpPlan> plan = plan_index_of_extreme(mesh_of("x2"), "argmax", type("8@x"), 0, false);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->output.at(0).reduction, Reduction::kMin);
  EXPECT_EQ(plan->result(), (TensorType{DType::kInt64, {}, PartitionSpec()}));
  EXPECT_THAT(index_of("8{U:x}", 0), HasSubstr("argmax: operand 0 f32[8]{U:x} is unreduced"));
  EXPECT_THAT(index_of("8{Umin:x}", 0), HasSubstr("is unreduced over x"));
  EXPECT_THAT(index_of("8", 1), HasSubstr("argmax: dims (1) are not different dims"));
}

TEST(PlanReduce, RefusesDimsThatAreNotThere) {
  EXPECT_EQ(reduce(Reduction::kSum, "8,2", {0, 0}),
            "! sum: dims (0, 0) are not different dims of operand 0 f32[8,2]");
  EXPECT_THAT(reduce(Reduction::kSum, "8,2", {2}), HasSubstr("not different dims"));
  EXPECT_THAT(reduce(Reduction::kSum, "8,2", {0}, "2,3@x"), HasSubstr("out=: spec"));
  EXPECT_THAT(reduce(Reduction::kSum, "8@w,2", {0}), HasSubstr("axis \"w\""));
}

}  // namespace
}  // namespace brigade::sharding
