// SPDX-License-Identifier: Apache-2.0
// Which collectives a reshard takes, row by row (conformance rows L). Sizes are eights: they divide
// by every axis.
#include <optional>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "parallel/sharding/elementwise_plan.h"
#include "parallel/sharding/op_plan.h"
#include "tests/parallel/sharding/reshard_bytes.h"
#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

struct Row {
  const char* name;
  const char* mesh;
  const char* from;
  const char* to;
  const char* steps;
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.from << " to " << row.to << " on " << row.mesh;
}

constexpr const char* kTwos = "u2,v2,w2,x2,y2,z2";

// [x;y] -> [y;x] on x4,y2 has no collective-permute of whole boxes, and mesh axes have no sub-axes
// that would make one: boxes change hands in pieces, with fewer bytes than such a permute and the
// all-to-all behind it would move (checked below).
constexpr Row kRows[] = {
    {"SlicesOneDim", kTwos, "8", "8@x", "slice x 0"},
    {"SlicesTwoDims", kTwos, "8,8", "8@x,8@(y,z)", "slice x 0; slice y,z 1"},
    {"Gathers", kTwos, "8@x", "8", "gather x 0"},
    {"GathersMinorAxes", kTwos, "8@(x,y,z),8", "8@x,8", "gather y,z 0"},
    {"ExchangesTwoDims", kTwos, "8,8@x", "8@x,8", "all_to_all x 1>0"},
    {"ExchangesPastAnotherDim", kTwos, "8@x,8@y,8", "8,8@y,8@x", "all_to_all x 0>2"},
    {"ExchangesAMinorAxis", kTwos, "8@(x,z),8@y", "8@x,8@(y,z)", "all_to_all z 0>1"},
    {"ExchangesTwoAxesAtOnce", kTwos, "8@x,8,8@(y,z)", "8@x,8@(y,z),8", "all_to_all y,z 2>1"},
    {"ExchangesTwiceFromOneDim",
     kTwos,
     "8,8@(y,x),8",
     "8@x,8,8@y",
     "all_to_all x 1>0; all_to_all y 1>2"},
    {"ExchangesTwiceIntoOneDim",
     kTwos,
     "8@y,8@x,8",
     "8,8,8@(x,y)",
     "all_to_all x 1>2; all_to_all y 0>2"},
    {"PermutesTwoDims", kTwos, "8@x,8@y", "8@y,8@x", "permute x,y"},
    {"ExchangesPiecesOfBoxes", "x4,y2", "8@x,8@y", "8@y,8@x", "permute x,y"},
    {"PermutesOneDim", kTwos, "8@(x,y),8@z", "8@(y,x),8@z", "permute x,y"},
    {"SlicesThenPermutesDims", kTwos, "8@x,8@y", "8@(x,y),8@z", "slice z 0; permute y,z"},
    {"SlicesThenPermutesADim", kTwos, "8@y,8,8", "8@(x,y),8,8", "slice x 0; permute x,y"},
    {"PermutesThenGathers", kTwos, "8@(y,x,z),8", "8@z,8", "permute y,z; gather x,y 0"},
    {"SlicesThenExchanges", kTwos, "8,8@x,8", "8,8,8@(x,y,z)", "slice y,z 1; all_to_all x,y,z 1>2"},
    {"SlicesThenGathers",
     kTwos,
     "8@x,8@(y,z),8,8",
     "8,8,8@(w,u),8@v",
     "slice w,u 2; slice v 3; gather x 0; gather y,z 1"},
    {"SlicesPermutesGathers", "x2,y3", "12@x", "12@y", "slice y 0; permute x,y; gather x 0"},
    {"AllReduces", kTwos, "8{U:x}", "8", "all_reduce x"},
    {"ReduceScatters", kTwos, "8{U:x}", "8@x", "reduce_scatter x 0"},
    {"ReduceScattersThenSlices", kTwos, "8{U:x}", "8@(x,y)", "reduce_scatter x 0; slice y 0"},
    {"SlicesThenReduceScatters", kTwos, "8{U:x}", "8@(y,x)", "slice y 0; reduce_scatter x 0"},
};

class ReshardTable : public ::testing::TestWithParam<Row> {};

TEST_P(ReshardTable, HasTheCollectives) {
  const Row& row = GetParam();
  const mesh::Mesh mesh = mesh_of(row.mesh);
  const Result<Casts> casts = plan_reshard(mesh, type(row.from), spec(row.to));
  ASSERT_TRUE(casts) << casts.error().text;
  EXPECT_EQ(steps_of(*casts), row.steps);
  EXPECT_LE(received(mesh, type(row.from), *casts),
            gather_then_slice(mesh, type(row.from), spec(row.to)));
}

TEST_P(ReshardTable, HasTheValuesForwardAndBackward) {
  const Row& row = GetParam();
  const mesh::Mesh mesh = mesh_of(row.mesh);
  const TensorType from = type(row.from);
  const TensorType to{from.dtype, from.global, spec(row.to)};
  const Casts casts = value_or_throw(plan_reshard(mesh, from, to.spec));
  std::mt19937 random(1);
  const Array whole = random_array(random, from.global);
  Ranks there = forward(mesh, distribute(random, mesh, whole, from), casts);
  EXPECT_EQ(assemble(mesh, there, to).data, whole.data);
  Ranks back = backward(mesh, distribute(random, mesh, whole, dual(to)), from, casts);
  EXPECT_EQ(assemble(mesh, back, dual(from)).data, whole.data);
}

INSTANTIATE_TEST_SUITE_P(L,
                         ReshardTable,
                         ::testing::ValuesIn(kRows),
                         [](const ::testing::TestParamInfo<Row>& row) { return row.param.name; });

TEST(ReshardTableRows, L_ExchangesPiecesForFewerBytesThanSubAxesWould) {
  const mesh::Mesh mesh = mesh_of("x4,y2");
  const Casts casts = value_or_throw(plan_reshard(mesh, type("8@x,8@y"), spec("8@y,8@x")));
  // With x = (a, b): [a,b;y] -> [y,b;a] takes half of the boxes to other ranks, and b from dim 0 to
  // dim 1 half of each box, of 8 elements.
  EXPECT_LT(received(mesh, type("8@x,8@y"), casts), 8 * 0.5 + 8 * 0.5);
}

std::string dot(const std::string& a, const std::string& b, const std::string& out) {
  const mesh::Mesh mesh = mesh_of("x4,y2");
  return text_of(plan_einsum(mesh, "mk,kn->mn", type(a), type(b), spec(out)), mesh);
}

TEST(ReshardTableRows, L1_AllReducesWhatADotContracts) {
  EXPECT_EQ(dot("8@x,8@y", "8@y,8", "8@x,8"), "- | mark_reduced x -> 8@x,8{U:y} -> all_reduce y");
}

TEST(ReshardTableRows, L2_ScattersWhatADotContracts) {
  EXPECT_EQ(dot("8@x,8@y", "8@y,8", "8@x,8@y"),
            "- | mark_reduced x -> 8@x,8{U:y} -> reduce_scatter y 1");
}

TEST(ReshardTableRows, L3_GathersTheSideThatAloneIsContracted) {
  EXPECT_EQ(dot("8@x,8@y", "8,8@y", "8@x,8@y"), "gather_reduced y 1 | mark_reduced x -> 8@x,8@y");
}

TEST(ReshardTableRows, L5_ReducesASumOfTwoTermsOnce) {
  const mesh::Mesh mesh = mesh_of("x4,y2");
  const TensorType terms[] = {type("8{U:y}"), type("8{U:y}")};
  const OpPlan sum = value_or_throw(plan_elementwise(mesh, "add", terms, Algebra::kSum));
  EXPECT_EQ(text_of(sum, mesh), "- | - -> 8{U:y}");
  const Casts use = value_or_throw(plan_reshard(mesh, sum.result(), PartitionSpec()));
  EXPECT_EQ(steps_of(use), "all_reduce y");
}

}  // namespace
}  // namespace brigade::sharding
