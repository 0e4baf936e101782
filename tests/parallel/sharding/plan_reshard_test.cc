// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/sharding/op_plan.h"
#include "tests/parallel/sharding/random_specs.h"
#include "tests/parallel/sharding/reshard_bytes.h"
#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::HasSubstr;

std::string steps(const std::string& mesh, const std::string& from, const std::string& to) {
  const Result<Casts> casts = plan_reshard(mesh_of(mesh), type(from), spec(to));
  return casts ? steps_of(*casts) : "! " + casts.error().text;
}

struct Move {
  std::string mesh;
  std::string from;
  std::string to;
  std::string steps;
};

void expect_moves(const std::vector<Move>& moves) {
  for (const Move& move : moves) {
    EXPECT_EQ(steps(move.mesh, move.from, move.to), move.steps)
        << move.from << " to " << move.to << " on " << move.mesh;
  }
}

TEST(PlanReshard, MakesEachOfTheElevenCastsInOneStep) {
  expect_moves({
      {"x2", "4", "4@x", "slice x 0"},
      {"x2", "4@x", "4", "gather x 0"},
      {"x2", "4@x", "4{R:x}", "gather_reduced x 0"},
      {"x2", "4{R:x}", "4@x", "slice_reduced x 0"},
      {"x2", "4", "4{R:x}", "mark_reduced x"},
      {"x2", "4{U:x}", "4", "all_reduce x"},
      {"x2", "4{U:x}", "4@x", "reduce_scatter x 0"},
      {"x2", "4", "4{U:x}", "keep_first x"},
      {"x2", "4@x", "4{U:x}", "place x 0"},
      {"x2", "4@x,4", "4,4@x", "all_to_all x 0>1"},
      {"x2,y2", "4@x,4@y", "4@y,4@x", "permute x,y"},
  });
}

TEST(PlanReshard, DoesNothingForTheSameSpec) {
  for (const std::string same : {"4", "4@x", "4{R:x}", "4{U:x}"}) {
    EXPECT_EQ(steps("x2", same, same), "");
  }
}

TEST(PlanReshard, KeepsAxesOfSizeOneAsSteps) {
  EXPECT_EQ(steps("x1,y2", "4@x,4", "4,4@x"), "permute x");  // nobody moves anything
  EXPECT_EQ(steps("x1,y2", "4{U:x}", "4"), "all_reduce x");
}

TEST(PlanReshard, ComposesTwoCastsWhereNoneLeadsStraight) {
  EXPECT_EQ(steps("x2", "4{U:x}", "4{R:x}"), "all_reduce x; mark_reduced x");
}

TEST(PlanReshard, RefusesAllToAllAndPermuteOnUnevenDims) {
  expect_moves({
      {"x2", "7@x,8", "7,8@x", "gather x 0; slice x 1"},
      {"x2", "8@x,7", "8,7@x", "gather x 0; slice x 1"},
      {"x2,y2", "7@x,8@y", "7@y,8@x", "gather x 0; gather y 1; slice y 0; slice x 1"},
      {"x2,y2,z2", "12@(x,y,z)", "12@(z,y,x)", "gather x,y,z 0; slice z,y,x 0"},
      {"x2,y3", "8@x", "8@y", "gather x 0; slice y 0"},
  });
}

TEST(PlanReshard, MovesSeveralAxesAtOnce) {
  expect_moves({
      {"x2,y2", "8{U:x,y}", "8", "all_reduce x,y"},
      {"x2,y2", "8{U:x,y}", "8@(y,x)", "reduce_scatter y,x 0"},
      {"x2,y2", "8{U:x,y}", "8@x", "reduce_scatter x 0; all_reduce y"},
      {"x2,y2", "8@(x,y)", "8{R:x,y}", "gather_reduced x,y 0"},
      {"x2,y2", "8@(x,y)", "8@x{R:y}", "gather_reduced y 0"},
      {"x2,y2", "8@(x,y)", "8{R:x}", "gather y 0; gather_reduced x 0"},
      {"x2,y2", "8", "8{R:x,y}", "mark_reduced x,y"},
      {"x2,y2", "8,4{R:x,y}", "8@x,4@y", "slice_reduced x 0; slice_reduced y 1"},
  });
}

TEST(PlanReshard, ScattersBehindTheAxesThatSplitTheDimAlready) {
  EXPECT_EQ(steps("t2,d2", "8@t{U:d}", "8@(t,d)"), "reduce_scatter d 0");
  EXPECT_EQ(steps("t2,d2", "8@(t,d)", "8@t{R:d}"), "gather_reduced d 0");
}

TEST(PlanReshard, MarksCopiesBeforeItGathers) {
  // Backward runs the other way: sliced first, the all-reduce moves less.
  EXPECT_EQ(steps("x2,y2", "8@x", "8{R:y}"), "mark_reduced y; gather x 0");
}

TEST(PlanReshard, ReducesBeforeAGatherWhereWaitingCostsMore) {
  EXPECT_EQ(steps("x4,y2", "12@x{U:y}", "12@y"), "all_reduce y; gather x 0; slice y 0");
}

TEST(PlanReshard, ScattersAndPermutesWhereThatCostsLess) {
  EXPECT_EQ(steps("x4,y2", "8@x{U:y}", "8@y"), "reduce_scatter y 0; permute x,y; gather x 0");
}

TEST(PlanReshard, PermutesOnlyTheAxesThatMove) {
  EXPECT_EQ(steps("x2,y2,z2", "8@(x,y,z)", "8@(z,y,x)"), "permute x,z");
  EXPECT_EQ(steps("w1,x2,y2", "8@(w,x),8@y", "8@(x,w),8@y"), "permute w");
}

TEST(PlanReshard, GathersTheFewestElementsOfWhatLeavesADim) {
  EXPECT_EQ(steps("x2,y2", "8@x,8@y", "8@y,8"), "permute x,y; gather x 1");
  EXPECT_EQ(steps("x2,y2", "8@x,8@y", "8,8@x{U:y}"), "permute x,y; place y 0");
}

TEST(PlanReshard, I9_GoesBackAndForth) {
  EXPECT_EQ(steps("x2,y2,z2", "4@(x,z),4@y", "4@x,4{U:y,z}"), "place z 0; place y 1");
  EXPECT_EQ(steps("x2,y2,z2", "4@x,4{U:y,z}", "4@(x,z),4@y"),
            "reduce_scatter z 0; reduce_scatter y 1");
  EXPECT_EQ(steps("x2,y2", "4@x,2@y", "4,2@x{U:y}"), "permute x,y; place y 0");
}

TEST(PlanReshard, SaysWhichMoveHasNoCast) {
  EXPECT_EQ(
      steps("x2", "4{R:x}", "4"),
      "! no cast leads from f32[4]{R:x} to f32[4]: over \"x\" (size 2) a reduced value cannot "
      "become replicated; reshard it to a dim split over \"x\" first");
  EXPECT_THAT(steps("x2", "4{R:x}", "4{U:x}"), HasSubstr("cannot become unreduced"));
}

TEST(PlanReshard, ReducesTermsOfAMaximumAsAMaximum) {
  expect_moves({
      {"x2", "4{Umax:x}", "4", "all_reduce max x"},
      {"x2", "4{Umin:x}", "4@x", "reduce_scatter min x 0"},
      {"x2,y2", "4{Umax:x,y}", "4{Umax:x}", "all_reduce max y"},
      {"x2,y2", "4@x{Umax:y}", "4{Umax:y}", "gather x 0"},
      {"x2", "4{Umax:x}", "4{R:x}", "all_reduce max x; mark_reduced x"},
  });
}

TEST(PlanReshard, NeitherMakesNorMixesTermsOfAMaximum) {
  EXPECT_EQ(steps("x2", "4", "4{Umax:x}"),
            "! no cast leads from f32[4] to f32[4]{Umax:x}: terms of a max over \"x\" (size 2) "
            "cannot be made of a value that is not unreduced over it; only a max over a dim split "
            "by \"x\" leaves them");
  EXPECT_THAT(steps("x2", "4@x", "4{Umin:x}"), HasSubstr("terms of a min over \"x\""));
  EXPECT_THAT(steps("x2,y2", "4{Umax:x}", "4{Umax:x,y}"), HasSubstr("over \"y\" (size 2)"));
  EXPECT_EQ(
      steps("x2", "4{Umax:x}", "4{U:x}"),
      "! no cast leads from f32[4]{Umax:x} to f32[4]{U:x}: terms of a max cannot become terms "
      "of a sum; reshard to a spec without unreduced axes to finish the max");
  EXPECT_THAT(steps("x2,y2", "4{Umax:x}", "4{U:y}"), HasSubstr("cannot become terms of a sum"));
  EXPECT_THAT(steps("x2", "4{U:x}", "4{Umax:x}"), HasSubstr("terms of a sum cannot become"));
}

TEST(PlanReshard, RefusesSpecsThatTheMeshCannotCarry) {
  EXPECT_THAT(steps("x2", "4", "4@y"), HasSubstr("axis \"y\" of dim 0"));
  EXPECT_THAT(steps("x2", "4@y", "4"), HasSubstr("axis \"y\" of dim 0"));
  EXPECT_THAT(steps("x2", "4", "4,4@x"), HasSubstr("but the tensor has 1 dim"));
}

TEST(PlanReshard, LeadsFromAnyLegalSpecToAnyOtherWithinTheBytesOfGatherThenSlice) {
  std::mt19937 random(20240607);
  size_t planned = 0;
  for (int round = 0; round < 20000; ++round) {
    const mesh::Mesh mesh = mesh_of(
        std::vector<std::string>{"x2,y2", "x2,y4", "x3,y2,z2", "w2,x1,y2,z2"}[random() % 4]);
    TensorType from;
    for (size_t rank = random() % 4; rank > 0; --rank) {
      from.global.push_back(std::vector<int64_t>{24, 48, 7, 1}[random() % 4]);
    }
    from.spec = random_legal_spec(random, mesh, from.global.size());
    const PartitionSpec to = random_legal_spec(random, mesh, from.global.size());
    const Result<Casts> casts = plan_reshard(mesh, from, to);
    const std::string what = from.to_string(mesh) + " to " + to.to_string();
    ASSERT_EQ(casts.has_value(), has_way(mesh, from.spec, to)) << what;
    if (!casts) {
      continue;
    }
    ++planned;
    ASSERT_EQ(casts->empty() ? from.spec : casts->back().to.spec, to) << what;
    for (const CastStep& step : *casts) {
      ASSERT_TRUE(step.to.spec.check(mesh, from.global.size())) << what;
      ASSERT_EQ(step.to.global, from.global) << what;
    }
    ASSERT_LE(received(mesh, from, *casts), gather_then_slice(mesh, from, to) * (1 + 1e-9) + 1e-9)
        << what << ": " << steps_of(*casts);
  }
  EXPECT_GT(planned, 5000U);
}

}  // namespace
}  // namespace brigade::sharding
