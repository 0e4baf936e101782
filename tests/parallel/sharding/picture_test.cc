// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/picture.h"

#include <algorithm>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/check.h"
#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string picture(const std::string& mesh, const std::string& text, bool colour = false) {
  const NamedSharding sharding = value_or_throw(NamedSharding::create(mesh_of(mesh), spec(text)));
  return '\n' + visualize(sharding, type(text).global, colour);
}

/// Columns of the widest line: bytes that do not continue a UTF-8 character.
size_t width_of(const std::string& text) {
  std::istringstream in(text);
  size_t widest = 0;
  for (std::string line; std::getline(in, line);) {
    const auto columns = std::count_if(line.begin(), line.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    });
    widest = std::max(widest, static_cast<size_t>(columns));
  }
  return widest;
}

TEST(Picture, A17_ShowsTwoColumnsOfCopies) {
  EXPECT_EQ(picture("x4,y2", "8,2@y"), R"(
        0:1       1:2
    ┌─────────┬─────────┐
0:8 │ 0,2,4,6 │ 1,3,5,7 │
    └─────────┴─────────┘
)");
}

TEST(Picture, DrawsAGridForTwoSplitDims) {
  EXPECT_EQ(picture("x2,y2", "8@x,12@y"), R"(
        0:6      6:12
    ┌─────────┬─────────┐
0:4 │    0    │    1    │
    ├─────────┼─────────┤
4:8 │    2    │    3    │
    └─────────┴─────────┘
)");
}

TEST(Picture, DrawsARowForOneDimAndKeepsEmptyParts) {
  EXPECT_EQ(picture("x4", "3@x"), R"(
    0:0       0:1       1:2       2:3
┌─────────┬─────────┬─────────┬─────────┐
│    0    │    1    │    2    │    3    │
└─────────┴─────────┴─────────┴─────────┘
)");
}

TEST(Picture, MergesEmptyPartsThatFollowOneAnotherAndNarrowsCellsToFit) {
  EXPECT_EQ(picture("x8", "3@x"), R"(
    0:0       0:1       1:1       1:2       2:2       2:3
┌─────────┬─────────┬─────────┬─────────┬─────────┬─────────┐
│   0,1   │    2    │   3,4   │    5    │    6    │    7    │
└─────────┴─────────┴─────────┴─────────┴─────────┴─────────┘
)");
  EXPECT_EQ(picture("x8", "8@x"), R"(
  0:1   1:2   2:3   3:4   4:5   5:6   6:7   7:8
┌─────┬─────┬─────┬─────┬─────┬─────┬─────┬─────┐
│  0  │  1  │  2  │  3  │  4  │  5  │  6  │  7  │
└─────┴─────┴─────┴─────┴─────┴─────┴─────┴─────┘
)");
}

TEST(Picture, WidensCellsForTheirRanks) {
  EXPECT_EQ(picture("x2,y8,z2", "8@x,6@z"), R"(
                0:3                       3:6
    ┌─────────────────────────┬─────────────────────────┐
0:4 │   0,2,4,6,8,10,12,14    │   1,3,5,7,9,11,13,15    │
    ├─────────────────────────┼─────────────────────────┤
4:8 │ 16,18,20,22,24,26,28,30 │ 17,19,21,23,25,27,29,31 │
    └─────────────────────────┴─────────────────────────┘
)");
}

TEST(Picture, BreaksLongListsOfRanksIntoLines) {
  EXPECT_EQ(picture("x24,y2", "8,6@y"), R"(
                     0:3                                  3:6
    ┌────────────────────────────────────┬────────────────────────────────────┐
0:8 │ 0,2,4,6,8,10,12,14,16,18,20,22,24, │ 1,3,5,7,9,11,13,15,17,19,21,23,25, │
    │  26,28,30,32,34,36,38,40,42,44,46  │  27,29,31,33,35,37,39,41,43,45,47  │
    └────────────────────────────────────┴────────────────────────────────────┘
)");
}

TEST(Picture, StaysWithinEightyColumns) {
  for (const std::string mesh : {"x2,y2", "x2,y8", "x8,y8", "x64,y2", "x2,y64", "x16,y16"}) {
    for (const std::string text : {"8", "640@x", "640@y", "640@(x,y)", "640@x,6400@y", "64@y,64"}) {
      EXPECT_LE(width_of(picture(mesh, text)), 80U) << text << " on " << mesh;
    }
  }
}

TEST(Picture, ListsBoxesOfOtherTensors) {
  EXPECT_EQ(picture("x2,y2", "4@x,2,3"), R"(
ranks 0,1  [0:2, 0:2, 0:3]
ranks 2,3  [2:4, 0:2, 0:3]
)");
  EXPECT_EQ(picture("x2", ""), "\nranks 0,1  []\n");
}

TEST(Picture, ListsBoxesWhereADrawingWouldBeTooWide) {
  const std::string list = picture("x32", "3200@x");
  EXPECT_THAT(list, HasSubstr("\nranks 0   [0:100]\n"));
  EXPECT_THAT(list, HasSubstr("\nranks 31  [3100:3200]\n"));
  EXPECT_THAT(list, Not(HasSubstr("│")));
}

TEST(Picture, TellsTermsFromCopies) {
  EXPECT_THAT(picture("x2,y2", "8@x,8{U:y}"),
              HasSubstr("each rank of a cell: terms of a sum over y\n"));
  EXPECT_THAT(picture("x2,y2", "{Umax:y,x}"),
              HasSubstr("each rank of a cell: terms of a max over x, y\n"));
  EXPECT_THAT(picture("x2,y2", "8@x,8{R:y}"), Not(HasSubstr("each rank")));
}

TEST(Picture, ColoursCellsOnlyWhenAsked) {
  EXPECT_THAT(picture("x2,y2", "8@x,12@y"), Not(HasSubstr("\x1b")));
  std::string coloured = picture("x2,y2", "8@x,12@y", true);
  EXPECT_THAT(coloured, HasSubstr("│\x1b[30;48;5;153m    0    \x1b[0m│"));
  // Without the escapes it is the same picture.
  for (size_t begin = 0; (begin = coloured.find('\x1b', begin)) != std::string::npos;) {
    coloured.erase(begin, coloured.find('m', begin) - begin + 1);
  }
  EXPECT_EQ(coloured, picture("x2,y2", "8@x,12@y"));
  EXPECT_THAT(picture("x2,y2", "4@x,2,3", true), HasSubstr("ranks \x1b["));
}

TEST(Picture, IsThatOfTheShardingItself) {
  const NamedSharding sharding{mesh_of("x2"), spec("4@x")};
  EXPECT_EQ(sharding.picture({4}), visualize(sharding, {4}));
}

TEST(Picture, ChecksThatTheShapeHasTheDimsThatAreSplit) {
  const NamedSharding sharding{mesh_of("x2"), spec("4,4@x")};
  EXPECT_THROW(visualize(sharding, {4}), CheckFailure);
  EXPECT_THROW(visualize_svg(sharding, {4}), CheckFailure);
}

}  // namespace
}  // namespace brigade::sharding
