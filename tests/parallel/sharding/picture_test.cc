// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "parallel/sharding/named_sharding.h"
#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

std::string picture(const std::string& mesh, const std::string& text) {
  return '\n' + value_or_throw(NamedSharding::create(mesh_of(mesh), spec(text)))
                    .picture(type(text).global);
}

TEST(Picture, ShowsTwoColumnsOfCopiesInRowA17) {
  EXPECT_EQ(picture("x4,y2", "8,2@y"), R"(
        0:1       1:2
    ┌─────────┬─────────┐
0:8 │ 0,2,4,6 │ 1,3,5,7 │
    └─────────┴─────────┘
)");
}

TEST(Picture, DrawsAGridForTwoSplitDims) {
  EXPECT_EQ(picture("x2,y2", "8@x,12@y"), R"(
      0:6   6:12
    ┌─────┬──────┐
0:4 │  0  │  1   │
    ├─────┼──────┤
4:8 │  2  │  3   │
    └─────┴──────┘
)");
}

TEST(Picture, DrawsARowForOneDimAndKeepsEmptyParts) {
  EXPECT_EQ(picture("x4", "3@x"), R"(
  0:0   0:1   1:2   2:3
┌─────┬─────┬─────┬─────┐
│  0  │  1  │  2  │  3  │
└─────┴─────┴─────┴─────┘
)");
}

TEST(Picture, ListsBoxesForOtherRanks) {
  EXPECT_EQ(picture("x2,y2", "4@x,2,3"), R"(
ranks 0,1  [0:2, 0:2, 0:3]
ranks 2,3  [2:4, 0:2, 0:3]
)");
  EXPECT_EQ(picture("x2", ""), "\nranks 0,1  []\n");
}

}  // namespace
}  // namespace brigade::sharding
