// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/named_sharding.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/check.h"
#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

NamedSharding on(const std::string& mesh, const std::string& type) {
  return value_or_throw(NamedSharding::create(mesh_of(mesh), spec(type)));
}

std::vector<Shape> local_shapes(const std::string& mesh, const std::string& text) {
  std::vector<Shape> shapes;
  for (int64_t rank = 0; rank < mesh_of(mesh).size(); ++rank) {
    shapes.push_back(on(mesh, text).local_shape(type(text).global, rank));
  }
  return shapes;
}

std::vector<int64_t> replica_ids(const std::string& mesh, const std::string& text) {
  std::vector<int64_t> ids;
  for (int64_t rank = 0; rank < mesh_of(mesh).size(); ++rank) {
    ids.push_back(on(mesh, text).replica_id(rank));
  }
  return ids;
}

TEST(NamedSharding, A1_SplitsBothDims) {
  EXPECT_THAT(local_shapes("x4,y2", "8@x,4@y"), Each(Shape{2, 2}));
  EXPECT_THAT(replica_ids("x4,y2", "8@x,4@y"), Each(0));
}

TEST(NamedSharding, A2_NumbersCopiesOverTheMinorAxis) {
  EXPECT_THAT(local_shapes("x4,y2", "8@x,4"), Each(Shape{2, 4}));
  EXPECT_THAT(replica_ids("x4,y2", "8@x,4"), ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
}

TEST(NamedSharding, A3_NumbersCopiesOverTheMajorAxis) {
  EXPECT_THAT(local_shapes("x4,y2", "8@y,4"), Each(Shape{4, 4}));
  EXPECT_THAT(replica_ids("x4,y2", "8@y,4"), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
}

TEST(NamedSharding, A4_SplitsTheLastDimAlone) {
  EXPECT_THAT(local_shapes("x4,y2", "8,4@y"), Each(Shape{8, 2}));
}

TEST(NamedSharding, A6_GivesRankRRowR) {
  EXPECT_THAT(local_shapes("x4,y2", "8@(x,y),4"), Each(Shape{1, 4}));
  for (int64_t rank = 0; rank < 8; ++rank) {
    EXPECT_EQ(on("x4,y2", "8@(x,y),4").box({8, 4}, rank), (Box{{{rank, rank + 1}, {0, 4}}}));
  }
}

TEST(NamedSharding, A7_CopiesEverything) {
  EXPECT_THAT(local_shapes("x4,y2", "8,4"), Each(Shape{8, 4}));
  EXPECT_THAT(replica_ids("x4,y2", "8,4"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(NamedSharding, A8_SplitsThreeColumnsInOneAndTwo) {
  EXPECT_THAT(local_shapes("x4,y2", "8@x,3@y"),
              ElementsAre(Shape{2, 1},
                          Shape{2, 2},
                          Shape{2, 1},
                          Shape{2, 2},
                          Shape{2, 1},
                          Shape{2, 2},
                          Shape{2, 1},
                          Shape{2, 2}));
}

TEST(NamedSharding, A10_GivesARankNothingOfADimSmallerThanTheAxis) {
  EXPECT_THAT(local_shapes("x2", "1@x"), ElementsAre(Shape{0}, Shape{1}));
}

TEST(NamedSharding, A11_SplitsFiveRowsInTwoAndThree) {
  EXPECT_THAT(local_shapes("x2", "5@x,2"), ElementsAre(Shape{2, 2}, Shape{3, 2}));
}

TEST(NamedSharding, A16_DoesNotDivideByUnreducedAxes) {
  EXPECT_THAT(local_shapes("x2,y2", "8@x,8{U:y}"), Each(Shape{4, 8}));
}

TEST(NamedSharding, C8_GivesTheMajorShardToTheGroupOfTheMinorAxis) {
  const NamedSharding fine = on("x2,y4", "11@(x,y)");
  EXPECT_EQ(fine.box({11}, 0).dims[0].begin, 0);
  EXPECT_EQ(fine.box({11}, 3).dims[0].end, 5);
  EXPECT_EQ(fine.box({11}, 4).dims[0].begin, 5);
  EXPECT_EQ(fine.box({11}, 7).dims[0].end, 11);
}

TEST(NamedSharding, CoversTheTensorOnceByTheFirstReplicas) {
  for (const std::string text : {"5@x,7@(z,y)", "5,7@y", "5@(y,x),7", "5,7{R:x}", "5@z,7{U:y}"}) {
    const NamedSharding sharding = on("x2,y3,z2", text);
    std::vector<int> covered(35);
    for (int64_t rank = 0; rank < 12; ++rank) {
      const Box box = sharding.box({5, 7}, rank);
      for (int64_t i = box.dims[0].begin; i < box.dims[0].end; ++i) {
        for (int64_t j = box.dims[1].begin; j < box.dims[1].end; ++j) {
          covered[static_cast<size_t>(i * 7 + j)] += sharding.replica_id(rank) == 0 ? 1 : 0;
        }
      }
    }
    EXPECT_THAT(covered, Each(1)) << text;
  }
}

TEST(NamedSharding, RefusesASpecThatTheMeshCannotCarry) {
  const auto missing = NamedSharding::create(mesh_of("x2"), spec("8@y"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kType);
  EXPECT_TRUE(NamedSharding::create(mesh_of("x2"), spec("8,8,8,8@x")));
  EXPECT_THROW(on("x2", "8,8@x").box({8}, 0), CheckFailure);
}

}  // namespace
}  // namespace brigade::sharding
