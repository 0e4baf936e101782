// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/sharding/op_plan.h"
#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::HasSubstr;

std::string steps(const std::string& mesh, const std::string& from, const std::string& to) {
  const Result<Casts> casts = plan_reshard(mesh_of(mesh), type(from), spec(to));
  return casts ? steps_of(*casts) : "! " + casts.error().text;
}

double local_elements(const mesh::Mesh& mesh, const TensorType& type) {
  double elements = 1;
  for (size_t dim = 0; dim < type.global.size(); ++dim) {
    elements *= static_cast<double>(type.global[dim]) /
                static_cast<double>(mesh.axes_size(type.spec.dim(dim)));
  }
  return elements;
}

// Received by one rank, counted over how sizes change: nothing else is known of a cast.
double received(const mesh::Mesh& mesh, TensorType from, const Casts& casts) {
  double sum = 0;
  for (const CastStep& step : casts) {
    const double before = local_elements(mesh, from);
    const double after = local_elements(mesh, step.to);
    const double others = 1 - 1 / static_cast<double>(mesh.axes_size(step.axes));
    if (step.kind == CastKind::kGather || step.kind == CastKind::kGatherReduced) {
      sum += after * others;
    } else if (step.kind == CastKind::kReduceScatter || step.kind == CastKind::kAllToAll) {
      sum += before * others;
    } else if (step.kind == CastKind::kAllReduce) {
      sum += 2 * before * others;
    }
    from = step.to;
  }
  return sum;
}

size_t common_prefix(const AxisNames& a, const AxisNames& b) {
  const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  return static_cast<size_t>(end - a.begin());
}

// All-reduce at the start's size, then all that is not in place gathered, then free slices. What
// becomes unreduced is placed, free, as late as can be.
double gather_then_slice(const mesh::Mesh& mesh, const TensorType& from, const PartitionSpec& to) {
  AxisNames finished;
  for (const std::string& axis : from.spec.unreduced()) {
    if (to.state(axis) != AxisState::kUnreduced) {
      finished.push_back(axis);
    }
  }
  TensorType now = from;
  double sum =
      2 * local_elements(mesh, now) * (1 - 1 / static_cast<double>(mesh.axes_size(finished)));
  for (bool placing = false, moved = true; moved || !placing;) {
    placing = !moved;
    moved = false;
    for (size_t dim = 0; dim < from.global.size() && !(placing && moved); ++dim) {
      AxisNames axes = now.spec.dim(dim);
      const AxisNames& wanted = to.dim(dim);
      if (axes.size() == common_prefix(axes, wanted) ||
          (to.state(axes.back()) == AxisState::kUnreduced) != placing) {
        continue;
      }
      axes.pop_back();
      const double before = local_elements(mesh, now);
      now.spec = now.spec.with_dim(dim, axes);
      sum += placing ? 0 : local_elements(mesh, now) - before;
      moved = true;
    }
  }
  return sum;
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

TEST(PlanReshard, MakesEachOfTheTenCastsInOneStep) {
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
  });
}

TEST(PlanReshard, DoesNothingForTheSameSpec) {
  for (const std::string same : {"4", "4@x", "4{R:x}", "4{U:x}"}) {
    EXPECT_EQ(steps("x2", same, same), "");
  }
}

TEST(PlanReshard, KeepsAxesOfSizeOneAsSteps) {
  EXPECT_EQ(steps("x1,y2", "4@x,4", "4,4@x"), "all_to_all x 0>1");
  EXPECT_EQ(steps("x1,y2", "4{U:x}", "4"), "all_reduce x");
}

TEST(PlanReshard, ComposesTwoCastsWhereNoneLeadsStraight) {
  EXPECT_EQ(steps("x2", "4{U:x}", "4{R:x}"), "all_reduce x; mark_reduced x");
}

TEST(PlanReshard, TakesTheDecompositionsOfTheReshardTable) {
  expect_moves({
      {"x2", "8", "8@x", "slice x 0"},
      {"x2,y2,z2", "8,8", "8@x,8@(y,z)", "slice x 0; slice y,z 1"},
      {"x2", "8@x", "8", "gather x 0"},
      {"x2,y2,z2", "8@(x,y,z),8", "8@x,8", "gather y,z 0"},
      {"x2", "8,8@x", "8@x,8", "all_to_all x 1>0"},
      {"x2,y2", "8@x,8@y,8", "8,8@y,8@x", "all_to_all x 0>2"},
      {"x2,y2,z2", "8@(x,z),8@y", "8@x,8@(y,z)", "all_to_all z 0>1"},
      {"x2,y2,z2", "8@x,8,8@(y,z)", "8@x,8@(y,z),8", "all_to_all y,z 2>1"},
      {"x2,y2", "8,8@(y,x),8", "8@x,8,8@y", "all_to_all x 1>0; all_to_all y 1>2"},
      {"x2,y2", "8@y,8@x,8", "8,8,8@(x,y)", "all_to_all x 1>2; all_to_all y 0>2"},
      {"x2,y2,z2", "8,8@x,8", "8,8,8@(x,y,z)", "slice y,z 1; all_to_all x,y,z 1>2"},
      {"u2,v2,w2,x2,y2,z2",
       "8@x,8@(y,z),8,8",
       "8,8,8@(w,u),8@v",
       "slice w,u 2; slice v 3; gather x 0; gather y,z 1"},
      {"x2,y2", "8{U:x}", "8", "all_reduce x"},
      {"x2,y2", "8{U:x}", "8@x", "reduce_scatter x 0"},
      {"x2,y2", "8{U:x}", "8@(x,y)", "reduce_scatter x 0; slice y 0"},
      {"x2,y2", "8{U:x}", "8@(y,x)", "slice y 0; reduce_scatter x 0"},
  });
}

TEST(PlanReshard, GathersWhereTheTableWouldPermuteRanks) {
  expect_moves({
      {"x2,y2", "8@x,8@y", "8@y,8@x", "gather x 0; all_to_all y 1>0; slice x 1"},
      {"x4,y2", "8@x,8@y", "8@y,8@x", "gather y 1; all_to_all x 0>1; slice y 0"},
      {"x2,y2,z2", "8@(x,y),8@z", "8@(y,x),8@z", "gather x,y 0; slice y,x 0"},
      {"x2,y2", "8@y,8", "8@(x,y),8", "gather y 0; slice x,y 0"},
      {"x2,y2,z2", "8@(y,x,z),8", "8@z,8", "gather y,x,z 0; slice z 0"},
      {"x2,y3", "8@x", "8@y", "gather x 0; slice y 0"},
      {"x2,y2,z2", "8@x,8@y", "8@(x,y),8@z", "all_to_all y 1>0; slice z 1"},
  });
}

TEST(PlanReshard, RefusesAllToAllOnUnevenDims) {
  expect_moves({
      {"x2", "7@x,8", "7,8@x", "gather x 0; slice x 1"},
      {"x2", "8@x,7", "8,7@x", "gather x 0; slice x 1"},
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
  EXPECT_EQ(steps("x4,y2", "8@x{U:y}", "8@y"), "all_reduce y; gather x 0; slice y 0");
}

TEST(PlanReshard, TakesRowI9BackAndForth) {
  EXPECT_EQ(steps("x2,y2,z2", "4@(x,z),4@y", "4@x,4{U:y,z}"), "place z 0; place y 1");
  EXPECT_EQ(steps("x2,y2,z2", "4@x,4{U:y,z}", "4@(x,z),4@y"),
            "reduce_scatter z 0; reduce_scatter y 1");
  EXPECT_EQ(steps("x2,y2", "4@x,2@y", "4,2@x{U:y}"), "place y 1; all_to_all x 0>1");
}

TEST(PlanReshard, SaysWhichMoveHasNoCast) {
  EXPECT_EQ(
      steps("x2", "4{R:x}", "4"),
      "! no cast leads from f32[4]{R:x} to f32[4]: over \"x\" (size 2) a reduced value cannot "
      "become replicated; reshard it to a dim split over \"x\" first");
  EXPECT_THAT(steps("x2", "4{R:x}", "4{U:x}"), HasSubstr("cannot become unreduced"));
}

TEST(PlanReshard, RefusesSpecsThatTheMeshCannotCarry) {
  EXPECT_THAT(steps("x2", "4", "4@y"), HasSubstr("axis \"y\" of dim 0"));
  EXPECT_THAT(steps("x2", "4@y", "4"), HasSubstr("axis \"y\" of dim 0"));
  EXPECT_THAT(steps("x2", "4", "4,4@x"), HasSubstr("but the tensor has 1 dim"));
}

PartitionSpec random_spec(std::mt19937& random, const mesh::Mesh& mesh, size_t rank) {
  std::vector<mesh::Axis> axes = mesh.axes();
  std::shuffle(axes.begin(), axes.end(), random);
  std::vector<PartitionSpec::Dim> dims(rank);
  AxisNames unreduced;
  AxisNames reduced;
  for (const mesh::Axis& axis : axes) {
    const size_t choice = random() % (rank + 3);
    if (choice < rank) {
      dims[choice].push_back(axis.name);
    } else if (choice == rank) {
      unreduced.push_back(axis.name);
    } else if (choice == rank + 1) {
      reduced.push_back(axis.name);
    }
  }
  return PartitionSpec(dims).with_unreduced(unreduced).with_reduced(reduced);
}

bool has_way(const mesh::Mesh& mesh, const PartitionSpec& from, const PartitionSpec& to) {
  return std::all_of(mesh.axes().begin(), mesh.axes().end(), [&](const mesh::Axis& axis) {
    const AxisState after = to.state(axis.name);
    return from.state(axis.name) != AxisState::kReduced || after == AxisState::kReduced ||
           after == AxisState::kSharded;
  });
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
    from.spec = random_spec(random, mesh, from.global.size());
    const PartitionSpec to = random_spec(random, mesh, from.global.size());
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
