// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/heat_map.h"

#include <limits>

#include <gmock/gmock.h>

#include "tests/trainer/report/occurrences.h"

namespace brigade::report {
namespace {

TEST(HeatMap, ShadesGrowWithTheSquareRoot) {
  const HeatMap map = {"t", "d", "rank", {"compute", "idle"}, {"0", "1"}, {{16, 4}, {1, 0}}};
  const std::string svg = draw(map, 500);
  EXPECT_EQ(occurrences(svg, "class=\"h10\""), 1);
  EXPECT_EQ(occurrences(svg, "class=\"h5\""), 1);
  EXPECT_EQ(occurrences(svg, "class=\"h3\""), 1);
  EXPECT_EQ(occurrences(svg, "class=\"h0\""), 1);
  EXPECT_THAT(svg, testing::HasSubstr("<title>compute, rank 1: 4.00</title>"));
}

TEST(HeatMap, NumbersStandOnlyInCellsThatHoldThem) {
  HeatMap map = {"t", "d", "rank", {"compute"}, {}, {{}}};
  for (int rank = 0; rank < 64; ++rank) {
    map.columns.push_back(std::to_string(rank));
    map.values[0].push_back(rank + 0.5);
  }
  const std::string svg = draw(map, 356);
  EXPECT_EQ(occurrences(svg, "<rect"), 64);
  EXPECT_EQ(occurrences(svg, "class=\"cell\""), 0);
  EXPECT_LE(occurrences(svg, "<text"), 34);
}

TEST(HeatMap, CellsWithoutANumberAreEmpty) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string svg = draw({"t", "d", "rank", {"a"}, {"0", "1"}, {{nan, 0}}}, 300);
  EXPECT_EQ(occurrences(svg, "class=\"h0\""), 2);
  EXPECT_THAT(svg, testing::Not(testing::HasSubstr("nan")));
  EXPECT_EQ(draw(HeatMap{}, 300), "");
}

}  // namespace
}  // namespace brigade::report
