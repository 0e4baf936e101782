// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/picture_grid.h"

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::ElementsAre;

PictureGrid grid_of(const std::string& mesh, const std::string& text, bool as_table = false) {
  return make_picture_grid({mesh_of(mesh), spec(text)}, type(text).global, as_table);
}

std::vector<std::string> labels(const std::vector<PictureBand>& bands) {
  std::vector<std::string> texts;
  for (const PictureBand& band : bands) {
    texts.push_back(band.label);
  }
  return texts;
}

TEST(PictureGrid, HasEveryRankInTheCellOfItsBox) {
  const PictureGrid grid = grid_of("x3,y2", "7@x,5@y");
  EXPECT_THAT(labels(grid.rows), ElementsAre("0:2", "2:4", "4:7"));
  EXPECT_THAT(labels(grid.columns), ElementsAre("0:2", "2:5"));
  EXPECT_EQ(grid.rows[2].size, 3);
  for (int64_t rank = 0; rank < 6; ++rank) {
    EXPECT_THAT(grid.ranks[static_cast<size_t>(rank / 2)][static_cast<size_t>(rank % 2)],
                ElementsAre(rank));
  }
  EXPECT_FALSE(grid.table);
}

TEST(PictureGrid, PutsCopiesAndEmptyPartsTogether) {
  const PictureGrid grid = grid_of("x4,y2", "2@x,3");
  EXPECT_THAT(labels(grid.rows), ElementsAre("0:0", "0:1", "1:1", "1:2"));
  EXPECT_THAT(grid.ranks[0][0], ElementsAre(0, 1));
  EXPECT_THAT(grid.ranks[3][0], ElementsAre(6, 7));
  EXPECT_THAT(labels(grid_of("x4", "0@x").columns), ElementsAre("0:0"));
}

TEST(PictureGrid, IsATableOfBoxesInReadingOrderOnDemandAndForOtherRanks) {
  const PictureGrid grid = grid_of("x2,y2", "12@(y,x)", true);
  EXPECT_TRUE(grid.table);
  EXPECT_THAT(labels(grid.rows), ElementsAre("[0:3]", "[3:6]", "[6:9]", "[9:12]"));
  EXPECT_THAT(grid.ranks[1][0], ElementsAre(2));
  EXPECT_TRUE(grid_of("x2", "").table);
  EXPECT_TRUE(grid_of("x2", "4@x,4,4").table);
}

TEST(PictureGrid, BreaksListsOfRanksAtCommas) {
  EXPECT_THAT(rank_lines({0, 1, 10, 11}, 5), ElementsAre("0,1,", "10,11"));
  EXPECT_THAT(rank_lines({100, 200}, 1), ElementsAre("100,", "200"));
  EXPECT_THAT(rank_lines({}, 8), ElementsAre(""));
}

TEST(PictureGrid, ColoursNeighboursApart) {
  for (size_t row = 1; row < 9; ++row) {
    for (size_t column = 1; column < 9; ++column) {
      const std::set<size_t> colours = {picture_colour(row - 1, column - 1),
                                        picture_colour(row - 1, column),
                                        picture_colour(row, column - 1),
                                        picture_colour(row, column)};
      EXPECT_EQ(colours.size(), 4U) << row << ' ' << column;
    }
  }
}

}  // namespace
}  // namespace brigade::sharding
