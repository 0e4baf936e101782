// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/sharding/op_plan.h"
#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string einsum(const std::string& mesh,
                   const std::string& equation,
                   const std::string& a,
                   const std::string& b,
                   const std::string& out = "none") {
  return text_of(
      plan_einsum(mesh_of(mesh),
                  equation,
                  type(a),
                  type(b),
                  out == "none" ? std::nullopt : std::optional<PartitionSpec>(spec(out))),
      mesh_of(mesh));
}

// The products of section D: (8,2) by (2,8).
std::string dot(const std::string& a, const std::string& b, const std::string& out = "none") {
  return einsum("x2,y2", "mk,kn->mn", a, b, out);
}

TEST(PlanEinsum, D1_free_dims_stay_split_over_two_axes) {
  EXPECT_EQ(dot("8@x,2", "2,8@y"), "mark_reduced y | mark_reduced x -> 8@x,8@y");
}

TEST(PlanEinsum, D2_a_free_dim_stays_split_over_one_axis) {
  EXPECT_EQ(dot("8@x,2", "2,8"), "- | mark_reduced x -> 8@x,8");
  EXPECT_EQ(dot("8,2", "2,8"), "- | - -> 8,8");
}

TEST(PlanEinsum, D3_the_left_side_is_gathered_where_it_alone_splits_the_contraction) {
  EXPECT_EQ(dot("8@x,2@y", "2,8"), "gather y 1 | mark_reduced x -> 8@x,8");
}

TEST(PlanEinsum, D4_the_right_side_is_gathered_where_it_alone_splits_the_contraction) {
  EXPECT_EQ(dot("8@x,2", "2@x,8"), "- | gather_reduced x 0 -> 8@x,8");
}

TEST(PlanEinsum, D5_the_left_side_is_gathered_beside_a_split_free_dim) {
  EXPECT_EQ(dot("8,2@y", "2,8@y"), "gather_reduced y 1 | - -> 8,8@y");
}

TEST(PlanEinsum, D7_contracting_dims_split_differently_are_refused) {
  EXPECT_EQ(dot("8@x,2@y", "2@x,8@y"),
            "! einsum mk,kn->mn: contracting index k is split over y in operand 0 f32[8@x,2@y] and "
            "over x in operand 1 f32[2@x,8@y]; contracting dims need consistent sharding: reshard "
            "one of them");
}

TEST(PlanEinsum, D8_both_contracting_dims_split_ask_for_out) {
  EXPECT_EQ(
      dot("8@x,2@y", "2@y,8"),
      "! einsum mk,kn->mn: contracting index k is split over y in both operands (operand 0 "
      "f32[8@x,2@y], operand 1 f32[2@y,8]), so each rank has one term of a sum: say with out= "
      "whether the result stays unreduced {U:y}, is all-reduced or scattered to a dim; or "
      "reshard");
}

TEST(PlanEinsum, D9_both_contracting_dims_split_ask_for_out_without_a_split_batch) {
  EXPECT_THAT(dot("8,2@y", "2@y,8"), AllOf(StartsWith("! "), HasSubstr("out=")));
}

TEST(PlanEinsum, D10_out_finishes_keeps_or_scatters_the_sum) {
  EXPECT_EQ(dot("8@x,2@y", "2@y,8", "8@x,8"), "- | mark_reduced x -> 8@x,8{U:y} -> all_reduce y");
  EXPECT_EQ(dot("8@x,2@y", "2@y,8", "8@x,8@y"),
            "- | mark_reduced x -> 8@x,8{U:y} -> reduce_scatter y 1");
  EXPECT_EQ(dot("8@x,2@y", "2@y,8", "8@x,8{U:y}"), "- | mark_reduced x -> 8@x,8{U:y}");
  EXPECT_EQ(dot("8,2@y", "2@y,8", "8@(x,y),8"),
            "- | - -> 8,8{U:y} -> slice x 0; reduce_scatter y 0");
}

TEST(PlanEinsum, D11_out_says_which_of_two_free_dims_keeps_an_axis) {
  EXPECT_EQ(
      einsum("x4", "mk,kn->mn", "8@x,2", "2,8@x"),
      "! einsum mk,kn->mn: the result would be illegally sharded: x splits index m of operand "
      "0 f32[8@x,2] and index n of operand 1 f32[2,8@x]; say with out= which of them stays "
      "split, or reshard one");
  EXPECT_EQ(einsum("x4", "mk,kn->mn", "8@x,2", "2,8@x", "8@x,8"),
            "- | gather_reduced x 1 -> 8@x,8");
  EXPECT_EQ(einsum("x4", "mk,kn->mn", "8@x,2", "2,8@x", "8,8@x"),
            "gather_reduced x 0 | - -> 8,8@x");
  EXPECT_THAT(einsum("x4", "mk,kn->mn", "8@x,2", "2,8@x", "8,8"), HasSubstr("illegally sharded"));
}

TEST(PlanEinsum, D12_batch_dims_split_differently_are_refused) {
  EXPECT_EQ(
      einsum("x2,y2,z1", "bmk,bkn->bmn", "8@x,4@y,2@z", "8@y,2@z,4@x"),
      "! einsum bmk,bkn->bmn: batch index b is split over x in operand 0 f32[8@x,4@y,2@z] and "
      "over y in operand 1 f32[8@y,2@z,4@x]; batch dims need consistent sharding: reshard one "
      "of them");
}

TEST(PlanEinsum, D14_cotangents_come_back_as_the_operands_types) {
  const mesh::Mesh mesh = mesh_of("x2,y2");
  const std::vector<std::array<std::string, 2>> rows = {{"8@x,2", "2,8@y"},
                                                        {"8@x,2", "2,8"},
                                                        {"8@x,2@y", "2,8"},
                                                        {"8@x,2", "2@x,8"},
                                                        {"8,2@y", "2,8@y"}};
  for (const auto& [a, b] : rows) {
    const OpPlan plan = value_or_throw(plan_einsum(mesh, "mk,kn->mn", type(a), type(b), {}));
    for (const Casts& casts : plan.inputs) {  // none of them makes a sum of an operand
      for (const CastStep& step : casts) {
        EXPECT_TRUE(step.to.spec.unreduced().empty()) << a << " . " << b;
      }
    }
    EXPECT_TRUE(plan.result().spec.reduced().empty()) << a << " . " << b;
  }
}

TEST(PlanEinsum, I1_split_contractions_leave_terms_on_each_rank) {
  EXPECT_EQ(einsum("x2", "mk,kn->mn", "2,2@x", "2@x,2", "2,2{U:x}"), "- | - -> 2,2{U:x}");
}

TEST(PlanEinsum, I7_reduced_weights_ask_for_nothing_in_a_microbatch) {
  EXPECT_EQ(einsum("x2", "bi,io->bo", "8@x,4", "4,4{R:x}"), "- | - -> 8@x,4");
  EXPECT_EQ(einsum("x2", "bi,io->bo", "8@x,4", "4,4"), "- | mark_reduced x -> 8@x,4");
}

TEST(PlanEinsum, L1_a_sum_over_one_axis_is_all_reduced) {
  EXPECT_EQ(einsum("x4,y2", "mk,kn->mn", "8@x,8@y", "8@y,8", "8@x,8"),
            "- | mark_reduced x -> 8@x,8{U:y} -> all_reduce y");
}

TEST(PlanEinsum, L2_a_sum_over_one_axis_is_scattered) {
  EXPECT_EQ(einsum("x4,y2", "mk,kn->mn", "8@x,8@y", "8@y,8", "8@x,8@y"),
            "- | mark_reduced x -> 8@x,8{U:y} -> reduce_scatter y 1");
}

TEST(PlanEinsum, L3_the_left_side_is_gathered_for_a_split_result) {
  EXPECT_EQ(einsum("x4,y2", "mk,kn->mn", "8@x,8@y", "8,8@y", "8@x,8@y"),
            "gather_reduced y 1 | mark_reduced x -> 8@x,8@y");
}

TEST(PlanEinsum, I8_unreduced_uses_without_terms_are_refused) {
  EXPECT_THAT(
      dot("8,2{U:x}", "2,8"),
      AllOf(HasSubstr("operand 0 f32[8,2]{U:x} is unreduced over x"), HasSubstr("reshard")));
  EXPECT_THAT(einsum("x2,y2,z2", "mk,kn->mn", "8,2@y", "2@y,8", "8,8{U:z}"),
              HasSubstr("is unreduced over z, over which nothing is contracted"));
  EXPECT_THAT(dot("8,2@x", "2@y,8", "8,8{U:x}"), HasSubstr("consistent sharding"));
}

TEST(PlanEinsum, K7_column_and_row_products) {
  EXPECT_EQ(einsum("d2,m2", "bi,io->bo", "64@d,128", "128,64@m{R:d}"),
            "mark_reduced m | - -> 64@d,64@m");
  EXPECT_EQ(einsum("d2,m2", "bi,io->bo", "64@d,128{R:m}", "128,64@m{R:d}"), "- | - -> 64@d,64@m");
  EXPECT_EQ(einsum("d2,m2", "bi,io->bo", "64@d,64@m", "64@m,16{R:d}", "64@d,16"),
            "- | - -> 64@d,16{U:m} -> all_reduce m");
  EXPECT_EQ(einsum("d2,m2", "bi,io->bo", "64@d,64@m", "64@m,16{R:d}", "64@d,16@m"),
            "- | - -> 64@d,16{U:m} -> reduce_scatter m 1");
}

TEST(PlanEinsum, K6_a_zero_3_weight_is_gathered_to_reduced) {
  EXPECT_EQ(einsum("d4", "bi,io->bo", "64@d,128", "128@d,64"), "- | gather_reduced d 0 -> 64@d,64");
}

TEST(PlanEinsum, GathersTheMinorDataAxisOfAWeightThatOutKeepsOnTheBatch) {
  EXPECT_EQ(einsum("d2,t2", "bsd,hd->bsh", "4@d,8,16", "32@(t,d),16", "4@d,8,32@t"),
            "mark_reduced t | gather_reduced d 0 -> 4@d,8,32@t");
}

TEST(PlanEinsum, TakesTheProductsOfAttention) {
  EXPECT_EQ(einsum("d2,t2", "bqhk,bshk->bhqs", "4@d,8,4@t,16", "4@d,8,4@t,16"),
            "- | - -> 4@d,4@t,8,8");
  EXPECT_EQ(einsum("d2,t2", "bshk,hkd->bsd", "4@d,8,4@t,16", "4@t,16,64{R:d}", "4@d,8,64"),
            "- | - -> 4@d,8,64{U:t} -> all_reduce t");
}

TEST(PlanEinsum, SlicesAWholeBatchDimAsTheOthers) {
  EXPECT_EQ(einsum("x2", "bm,bn->bmn", "8@x,2", "8,3"), "- | slice x 0 -> 8@x,2,3");
  EXPECT_EQ(einsum("x2", "bm,bn->bmn", "8,2{R:x}", "8@x,3"), "slice_reduced x 0 | - -> 8@x,2,3");
  EXPECT_THAT(
      einsum("x2", "bm,bn->bmn", "8@x,2", "8,4@x"),
      HasSubstr("dim 0 of operand 1 f32[8,4@x] would be split over x (size 2), which another "
                "operand splits, but that splits its dim 1"));
}

TEST(PlanEinsum, PassesReducedOperandsFreeAndOutOfTheResult) {
  EXPECT_EQ(dot("8@x,2", "2,8{R:x}"), "- | - -> 8@x,8");
  EXPECT_EQ(dot("8,2{R:x}", "2,8{R:x}"), "- | - -> 8,8{R:x}");
  EXPECT_EQ(dot("8,2@x", "2,8{R:x}"), "gather_reduced x 1 | - -> 8,8{R:x}");
}

TEST(PlanEinsum, RefusesAReducedBesideAReplicatedOperandWhereNothingVaries) {
  EXPECT_EQ(dot("8,2", "2,8{R:x}"),
            "! einsum mk,kn->mn: operand 1 f32[2,8]{R:x} is reduced over x, operand 0 f32[8,2] is "
            "replicated over it, and no operand is split over it; reshard the replicated one to "
            "{R:x}");
}

TEST(PlanEinsum, SumsAnIndexOfOneOperandAlone) {
  EXPECT_EQ(einsum("x2", "ij,k->k", "4,6", "5"), "- | - -> 5");
  EXPECT_THAT(einsum("x2", "ij,k->k", "4@x,6", "5"),
              HasSubstr("contracting index i is split over x and summed"));
  EXPECT_EQ(einsum("x2", "ij,k->k", "4@x,6", "5", "5"),
            "- | mark_reduced x -> 5{U:x} -> all_reduce x");
  EXPECT_THAT(einsum("x2", "ij,k->k", "4@x,6", "5@x"), HasSubstr("illegally sharded"));
  EXPECT_EQ(einsum("x2", "ij,k->k", "4@x,6", "5@x", "5@x"), "gather_reduced x 0 | - -> 5@x");
}

TEST(PlanEinsum, TakesUnevenSizes) {
  EXPECT_EQ(einsum("x3", "mk,kn->mn", "64@x,128", "128,64"), "- | mark_reduced x -> 64@x,64");
  EXPECT_EQ(einsum("x3", "mk,kn->mn", "64,128@x", "128@x,64", "64@x,64"),
            "- | - -> 64,64{U:x} -> reduce_scatter x 0");
}

TEST(PlanEinsum, ReshardsTheResultToWhatOutAsks) {
  EXPECT_EQ(dot("8@x,2", "2,8", "8,8@x"), "- | mark_reduced x -> 8@x,8 -> all_to_all x 0>1");
  EXPECT_EQ(dot("8,2", "2,8", "8,8{R:x}"), "- | - -> 8,8 -> mark_reduced x");
  EXPECT_THAT(dot("8,2{R:x}", "2,8{R:x}", "8,8"),
              AllOf(HasSubstr("out=: no cast leads from"),
                    HasSubstr("(of operand 0 f32[8,2]{R:x} and operand 1 f32[2,8]{R:x})")));
  EXPECT_THAT(dot("8,2", "2,8", "8,8@z"), HasSubstr("out=: axis \"z\""));
}

TEST(PlanEinsum, GivesReasonsForTheLedger) {
  const mesh::Mesh mesh = mesh_of("x2,y2");
  const auto reason = [&](const std::string& a, const std::string& b, const std::string& out) {
    return value_or_throw(plan_einsum(mesh, "mk,kn->mn", type(a), type(b), spec(out))).reason;
  };
  EXPECT_EQ(reason("8@x,2", "2@x,8", "8@x,8"),
            "einsum mk,kn->mn: contracting index k is split over x in operand 1 alone, which is "
            "gathered");
  EXPECT_EQ(reason("8@x,2@y", "2@y,8", "8@x,8"),
            "einsum mk,kn->mn: contracting index k is split over y in both operands");
  EXPECT_EQ(
      reason("8@x,2", "2,8@x", "8@x,8"),
      "einsum mk,kn->mn: index n of operand 1 is gathered over x, which out= keeps on index m");
}

TEST(PlanEinsum, RefusesOperandsThatDoNotFitTheEquation) {
  EXPECT_THAT(einsum("x2", "mk", "8,2", "2,8"), HasSubstr("expected two operands and a result"));
  EXPECT_THAT(einsum("x2", "mm,mk->k", "8,8", "8,2"), HasSubstr("each once per operand"));
  EXPECT_THAT(einsum("x2", "...k,kn->n", "8,8", "8,2"), HasSubstr("found '.'"));
  EXPECT_THAT(einsum("x2", "mk,kn->mz", "8,2", "2,8"), HasSubstr("no operand has index z"));
  EXPECT_THAT(einsum("x2", "mk,kn->mn", "8,2,3", "2,8"),
              HasSubstr("operand 0 f32[8,2,3] has 3 dims, expected 2 as mk"));
  EXPECT_THAT(einsum("x2", "mk,kn->mn", "8,2", "3,8"),
              HasSubstr("index k has size 2 in operand 0 f32[8,2] and 3 in operand 1"));
  EXPECT_THAT(einsum("x2", "mk,kn->mn", "8@w,2", "2,8"),
              HasSubstr("operand 0: f32[8@w,2]: axis \"w\""));
  TensorType half = type("2,8");
  half.dtype = DType::kBFloat16;
  EXPECT_THAT(
      text_of(plan_einsum(mesh_of("x2"), "mk,kn->mn", type("8,2"), half, {}), mesh_of("x2")),
      HasSubstr("element types differ"));
}

}  // namespace
}  // namespace brigade::sharding
