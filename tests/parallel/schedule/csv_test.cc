// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "parallel/schedule/schedule.h"

namespace brigade::schedule {
namespace {

Header two_by_two() {
  return {Kind::kOneForwardOneBackward, 2, 2, 2, {0, 1}};
}

TEST(Csv, ComputeOnlyFormReadsBackAsTheSameSchedule) {
  for (const Kind kind : {Kind::kGPipe, Kind::kOneForwardOneBackward}) {
    for (int64_t ranks = 1; ranks <= 5; ++ranks) {
      const Schedule schedule = value_or_throw(generate({kind, ranks, 6}));
      EXPECT_EQ(value_or_throw(parse_csv(to_csv(schedule, true), schedule.header)), schedule);
    }
  }
}

TEST(Csv, ComputeOnlyFormHasForwardsAndBackwardsAlone) {
  EXPECT_EQ(to_csv(value_or_throw(generate({Kind::kOneForwardOneBackward, 2, 2})), true),
            "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
}

TEST(Csv, TakesIdleStepsSpacesAndReturns) {
  const auto schedule = parse_csv("0F0,0F1,,0B0, ,0B1\r\n,1F0, 1B0 ,1F1,1B1", two_by_two());
  ASSERT_TRUE(schedule) << schedule.error().text;
  EXPECT_EQ(*schedule, value_or_throw(generate({Kind::kOneForwardOneBackward, 2, 2})));
}

TEST(Csv, TakesTwoStagesPerRankAsPyTorchInterleavesThem) {
  const Header header{Kind::kOneForwardOneBackward, 2, 4, 4, {0, 1, 0, 1}};
  const char* const rows =
      "0F0,0F1,2F0,2F1,,,0F2,2B0,0F3,2B1,2F2,0B0,2F3,0B1,,2B2,,2B3,,0B2,,0B3\n"
      ",1F0,1F1,,3F0,3B0,3F1,3B1,1F2,1B0,1F3,1B1,3F2,3B2,3F3,3B3,,1B2,,1B3\n";
  const auto schedule = parse_csv(rows, header);
  ASSERT_TRUE(schedule) << schedule.error().text;
  EXPECT_EQ(schedule->per_rank[0].size(), 16U + 4U * 6U + 5U);
}

std::string refusal(std::string_view text, const Header& header) {
  const auto schedule = parse_csv(text, header);
  return schedule ? "accepted" : schedule.error().text;
}

TEST(Csv, NamesTheCellThatItCannotRead) {
  const std::string expected =
      "expected <stage>F<microbatch> or <stage>B<microbatch> with stage below 2 and microbatch "
      "below 2; found ";
  for (const char* const cell : {"1I0",
                                 "2F0",
                                 "1F2",
                                 "F0",
                                 "1F",
                                 "-1F0",
                                 "1F-1",
                                 "1F0x",
                                 "1SEND_F0",
                                 "99999999999999999999F0"}) {
    const std::string text = std::string("0F0,0F1,0B0,0B1\n1F0,") + cell + ",1F1,1B1\n";
    EXPECT_EQ(refusal(text, two_by_two()),
              "schedule file, row 2, column 2: " + expected + '"' + cell + '"');
  }
}

TEST(Csv, WantsOneRowPerRank) {
  EXPECT_EQ(refusal("0F0,0F1,0B0,0B1\n", two_by_two()),
            "schedule file: expected one row for each of 2 pipeline ranks; found 1 rows");
}

TEST(Csv, RefusesRowsThatCannotRun) {
  EXPECT_EQ(refusal("0F0,0F1,0B0,0B1\n1F0,1B0,1B1,1F1\n", two_by_two()),
            "schedule: rank 1, action 4: 1B1 (after 1SEND_B0, before 1SEND_B1) comes before its "
            "forward, rank 1, action 7: 1F1 (after 1RECV_F1, before END_REDUCE)");
}

TEST(Csv, RefusesAHeaderThatContradictsItself) {
  Header header = two_by_two();
  header.rank_of_stage = {0, 2};
  EXPECT_EQ(refusal("", header), "schedule: stage 1 is on rank 2; expected a rank below 2");
}

}  // namespace
}  // namespace brigade::schedule
