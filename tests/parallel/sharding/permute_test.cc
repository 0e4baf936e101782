// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/permute.h"

#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/check.h"
#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string arrangement(const std::string& mesh,
                        const std::string& from,
                        const std::string& to,
                        bool whole_boxes) {
  const std::optional<Arrangement> found =
      find_arrangement(mesh_of(mesh), type(from), spec(to), whole_boxes);
  return found ? PartitionSpec(found->before).to_string() + " to " +
                     PartitionSpec(found->after).to_string()
               : "none";
}

AxisNames moved(const std::string& mesh, const std::string& from, const std::string& to) {
  return permuted_axes(mesh_of(mesh), spec(from), spec(to));
}

TEST(Permute, MovesTheAxesThatChangeDimOrPlace) {
  EXPECT_THAT(moved("x2,y2", "8@x,8@y", "8@y,8@x"), ElementsAre("x", "y"));
  EXPECT_THAT(moved("x2,y2,z2", "8@(x,y,z)", "8@(z,y,x)"), ElementsAre("x", "z"));
  EXPECT_THAT(moved("x4,y2,z2", "8@(x,y,z)", "8@(z,y,x)"), ElementsAre("x", "y", "z"));
  EXPECT_THAT(moved("x2,y2", "8@x,8@y", "8@x,8@y"), IsEmpty());
  EXPECT_THAT(moved("v1,w1", "8@(v,w)", "8@(w,v)"), ElementsAre("v", "w"));
  EXPECT_THROW(moved("x2,y2", "8@x", "8@y"), CheckFailure);
}

TEST(Permute, KnowsTheShareThatChangesRanks) {
  const auto share = [](const std::string& mesh, const std::string& from, const std::string& to) {
    return permuted_share(mesh_of(mesh), spec(from), spec(to));
  };
  EXPECT_DOUBLE_EQ(share("x2,y2", "8@x,8@y", "8@y,8@x"), 0.5);  // (0,0) and (1,1) keep their boxes
  EXPECT_DOUBLE_EQ(share("x4,y4", "8@x,8@y", "8@y,8@x"), 0.75);
  EXPECT_DOUBLE_EQ(share("x2,y2,z2", "8@(x,y,z)", "8@(y,z,x)"), 0.75);
  EXPECT_DOUBLE_EQ(share("x2,y2,z2", "8@(x,y),8@z", "8@(y,x),8@z"), 0.5);
}

TEST(Permute, CountsTheElementsThatChangeRanksInAGroup) {
  const mesh::Mesh mesh = mesh_of("x2,y2,z2");
  const TensorType from = type("8@x,8@y,3@z");
  const CastStep step{CastKind::kPermute, {"x", "y"}, -1, -1, type("8@y,8@x,3@z")};
  // Two of four boxes of 4 x 4 rows and columns, and of 1 or 2 along the uneven dim.
  EXPECT_EQ(permuted_elements(mesh, from, step, 0), 2 * 16 * 1);
  EXPECT_EQ(permuted_elements(mesh, from, step, 1), 2 * 16 * 2);
}

TEST(Permute, ArrangesWholeBoxesWhereDimsKeepTheirParts) {
  EXPECT_EQ(arrangement("x2,y2", "8@x,8@y", "8@y,8@x", true), "(\"x\", \"y\") to (\"y\", \"x\")");
  EXPECT_EQ(arrangement("x2,y2,z2", "8@x,8@y", "8@(x,y),8@z", true),
            "((\"x\", \"z\"), \"y\") to ((\"x\", \"y\"), \"z\")");
  EXPECT_EQ(arrangement("x2,y3", "12@x", "12@y", true), "((\"x\", \"y\")) to ((\"y\", \"x\"))");
  EXPECT_EQ(arrangement("x2,y2,z2", "8@(y,x,z)", "8@z", true),
            "((\"y\", \"x\", \"z\")) to ((\"z\", \"x\", \"y\"))");
}

TEST(Permute, ArrangesPiecesOfBoxesOnlyWhenAsked) {
  EXPECT_EQ(arrangement("x4,y2", "8@x,8@y", "8@y,8@x", true), "none");
  EXPECT_EQ(arrangement("x4,y2", "8@x,8@y", "8@y,8@x", false), "(\"x\", \"y\") to (\"y\", \"x\")");
}

TEST(Permute, ArrangesNothingWhereEveryDimIsRightButForLeavers) {
  EXPECT_EQ(arrangement("x2,y2", "8@(x,y)", "8@x", false), "none");
  EXPECT_EQ(arrangement("x2,y2", "8@x", "8", false), "none");
}

TEST(Permute, LeavesUnevenDimsAlone) {
  EXPECT_EQ(arrangement("x2,y2", "7@x,8@y", "7@y,8@x", false), "none");
  EXPECT_EQ(arrangement("x2,y2,z2", "7@z,8@(x,y)", "7@z,8@(y,x)", true),
            "(\"z\", (\"x\", \"y\")) to (\"z\", (\"y\", \"x\"))");
  EXPECT_EQ(arrangement("x2,y2", "0@x,8@y", "0@y,8@x", true), "(\"x\", \"y\") to (\"y\", \"x\")");
}

TEST(Permute, TakesOneWayWhereThereAreTooManyToTry) {
  // Nine axes leave: each stays on its dim, in its order.
  EXPECT_EQ(arrangement(
                "a1,b1,c1,d1,e1,f1,g1,h1,i1,x2,y2", "8@(x,a,b,c,d,e,f,g,h,i),8@y", "8@y,8@x", true),
            "((\"x\", \"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\", \"i\"), \"y\") to "
            "((\"y\", \"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\", \"i\"), \"x\")");
}

}  // namespace
}  // namespace brigade::sharding
