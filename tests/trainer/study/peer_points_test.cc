// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/peer_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"

namespace brigade::study {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<Grid> planned(const std::string& grid_lines, const std::string& peers) {
  const Result<Study> study = read_study(concat("[study]\nname = \"s\"\nbase = \"tiny.toml\"\n",
                                                "oversubscribe = true\n[grid]\n",
                                                grid_lines,
                                                '\n',
                                                peers),
                                         BRIGADE_TEST_DATA "/../../configs/bench/s.toml");
  EXPECT_TRUE(study) << study.error().text;
  return study ? points_of(*study, {.cores = 2}) : fail(study.error());
}

TEST(PeerPoints, APeerRunsBesideTheMeshesThatItNames) {
  const Result<Grid> grid =
      planned("ranks = [1, 2]\nmesh = [\"dp\", \"tp\"]",
              "[[peer]]\nname = \"ddp\"\ncommand = \"p {ranks} {threads} {flavor} {batch} {micro} "
              "{seq_len} {steps} {warmup} {tp}\"\nseries = \"dp\"\n");
  ASSERT_TRUE(grid) << grid.error().text;
  ASSERT_EQ(grid->points.size(), 5U);
  EXPECT_EQ(grid->points[3].command, "p 1 1 tiny 8 4 128 12 2 1");
  EXPECT_EQ(grid->points[4].command, "p 2 1 tiny 8 4 128 12 2 1");
  EXPECT_EQ(grid->points[4].point.id, "ddp-tiny-dp-r2-z0-mb4");
  EXPECT_EQ(grid->points[4].point.peer, "ddp");
  ASSERT_EQ(grid->series.size(), 3U);
  EXPECT_EQ(grid->series[2].name, "ddp: tiny dp zero 0");
  EXPECT_THAT(grid->series[2].points, ElementsAre(3, 4));
}

TEST(PeerPoints, CommandsThatAreAlikeAreOnePoint) {
  const std::string grid_lines = "ranks = [1, 2]\nmesh = \"dp\"\nzero_stage = [0, 1, 2]";
  const Result<Grid> alike =
      planned(grid_lines, "[[peer]]\nname = \"p\"\ncommand = \"p {ranks}\"\n");
  ASSERT_TRUE(alike);
  EXPECT_EQ(alike->points.size(), 4U + 2U);
  EXPECT_EQ(alike->series.size(), 3U + 1U);
  const Result<Grid> apart =
      planned(grid_lines, "[[peer]]\nname = \"p\"\ncommand = \"p {ranks} {zero}\"\n");
  ASSERT_TRUE(apart);
  EXPECT_EQ(apart->points.size(), 4U + 4U);
  EXPECT_EQ(apart->series.size(), 3U + 3U);
}

TEST(PeerPoints, ASeriesThatIsNoneIsRefusedWithTheNearest) {
  const Result<Grid> grid =
      planned("ranks = [1, 2]\nmesh = \"dp\"",
              "[[peer]]\nname = \"p\"\ncommand = \"p\"\nseries = \"tiny dp zero 1\"\n");
  ASSERT_FALSE(grid);
  EXPECT_THAT(grid.error().text, HasSubstr("the nearest is \"tiny dp zero 0\""));
}

}  // namespace
}  // namespace brigade::study
