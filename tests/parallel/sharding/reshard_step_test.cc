// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/reshard_step.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/check.h"
#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string after(const std::string& from, CastKind kind, AxisNames axes, int64_t dim = -1) {
  return spec_after(spec(from), {kind, std::move(axes), dim, dim < 0 ? -1 : 1 - dim, {}})
      .to_string();
}

TEST(ReshardStep, EditsListsOfAxes) {
  EXPECT_THAT(plus({"x"}, {"y", "z"}), ElementsAre("x", "y", "z"));
  EXPECT_THAT(minus({"x", "y", "z"}, {"z", "x"}), ElementsAre("y"));
  EXPECT_THAT(tail({"x", "y", "z"}, 1), ElementsAre("y", "z"));
  EXPECT_THAT(tail({"x"}, 1), IsEmpty());
}

TEST(ReshardStep, AppendsWhatArrivesAsMinorAxes) {
  EXPECT_EQ(after("8@x,8", CastKind::kSlice, {"y"}, 0), "((\"x\", \"y\"))");
  EXPECT_EQ(after("8@x,8{R:y}", CastKind::kSliceReduced, {"y"}, 0), "((\"x\", \"y\"))");
  EXPECT_EQ(after("8@x,8{U:y,z}", CastKind::kReduceScatter, {"y"}, 0), "((\"x\", \"y\")){U:z}");
  EXPECT_EQ(after("8@x,8@y", CastKind::kAllToAll, {"x"}, 0), "(None, (\"y\", \"x\"))");
}

TEST(ReshardStep, MovesAxesBetweenSets) {
  EXPECT_EQ(after("8@(x,y),8", CastKind::kGather, {"y"}, 0), "(\"x\")");
  EXPECT_EQ(after("8@x,8{R:z}", CastKind::kGatherReduced, {"x"}, 0), "(){R:x,z}");
  EXPECT_EQ(after("8@x,8{U:z}", CastKind::kPlace, {"x"}, 0), "(){U:x,z}");
  EXPECT_EQ(after("8,8", CastKind::kMarkReduced, {"x"}), "(){R:x}");
  EXPECT_EQ(after("8,8{U:z}", CastKind::kKeepFirst, {"x"}), "(){U:x,z}");
}

TEST(ReshardStep, KeepsTheKindOfTheTermsThatStay) {
  EXPECT_EQ(after("8,8{Umax:y,z}", CastKind::kAllReduce, {"y"}), "(){Umax:z}");
  EXPECT_EQ(after("8,8{Umin:y,z}", CastKind::kReduceScatter, {"y"}, 0), "(\"y\"){Umin:z}");
}

TEST(ReshardStep, TakesNoPermuteWhoseSpecOnlyTheStepKnows) {
  EXPECT_THROW(after("8@x,8@y", CastKind::kPermute, {"x", "y"}), CheckFailure);
}

TEST(ReshardStep, CountsWhatARankReceives) {
  const mesh::Mesh mesh = mesh_of("x4,y2");
  const auto received = [&](const std::string& from, CastStep step, const std::string& to) {
    step.to = type(to);
    return elements_received(mesh, type(from), {step});
  };
  EXPECT_DOUBLE_EQ(received("8@x", {CastKind::kGather, {"x"}, 0, -1, {}}, "8"), 6);
  EXPECT_DOUBLE_EQ(received("8{U:x}", {CastKind::kAllReduce, {"x"}, -1, -1, {}}, "8"), 12);
  EXPECT_DOUBLE_EQ(received("8{U:x}", {CastKind::kReduceScatter, {"x"}, 0, -1, {}}, "8@x"), 6);
  EXPECT_DOUBLE_EQ(received("8@x,4", {CastKind::kAllToAll, {"x"}, 0, 1, {}}, "8,4@x"), 6);
  EXPECT_DOUBLE_EQ(received("8", {CastKind::kSlice, {"x"}, 0, -1, {}}, "8@x"), 0);
  // Boxes of 2 x 4 become boxes of 4 x 2; on half of the ranks, the two have half in common.
  EXPECT_DOUBLE_EQ(received("8@x,8@y", {CastKind::kPermute, {"x", "y"}, -1, -1, {}}, "8@y,8@x"), 6);
}

}  // namespace
}  // namespace brigade::sharding
