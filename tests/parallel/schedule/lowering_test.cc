// SPDX-License-Identifier: Apache-2.0
#include "parallel/schedule/lowering.h"

#include <map>

#include <gtest/gtest.h>

#include "parallel/schedule/generators.h"

namespace brigade::schedule {
namespace {

constexpr const char* kTailText = "END_REDUCE,EXCHANGE_TIED,NORM,OPT_STEP,GATHER_PARAMS";

Schedule two_ranks() {
  return value_or_throw(generate({Kind::kOneForwardOneBackward, 2, 2}));
}

TEST(Lowering, PutsReceivesBeforeConsumersAndSendsAfterProducers) {
  EXPECT_EQ(to_csv(two_ranks(), false),
            std::string("0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1,") + kTailText +
                "\n1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1," + kTailText + "\n");
}

TEST(Lowering, SendsNothingOnOneRank) {
  EXPECT_EQ(to_csv(value_or_throw(generate({Kind::kOneForwardOneBackward, 1, 2})), false),
            std::string("0F0,0B0,0F1,0B1,") + kTailText + "\n");
}

TEST(Lowering, HandsOverWithoutAMessageBetweenStagesOfOneRank) {
  const Header header{Kind::kGPipe, 1, 1, 2, {0, 0}};
  const auto rows = compute_row(Kind::kGPipe, 2, 1, 0);
  auto more = compute_row(Kind::kGPipe, 2, 1, 1);
  const Schedule schedule = lower(header, {{rows[0], more[0], more[1], rows[1]}});
  EXPECT_EQ(to_csv(schedule, false), std::string("0F0,1F0,1B0,0B0,") + kTailText + "\n");
  EXPECT_EQ(schedule.per_rank[0][1].dependencies, std::vector<int64_t>{0});
  EXPECT_EQ(schedule.per_rank[0][3].dependencies, (std::vector<int64_t>{0, 2}));
}

TEST(Lowering, NumbersActionsRankByRank) {
  int64_t id = 0;
  for (const auto& row : two_ranks().per_rank) {
    for (const Action& action : row) {
      EXPECT_EQ(action.id, id++);
    }
  }
}

TEST(Lowering, NamesWhatEveryActionWaitsFor) {
  const Schedule schedule = two_ranks();
  std::map<int64_t, std::string> names;
  for (const auto& row : schedule.per_rank) {
    for (const Action& action : row) {
      names[action.id] = to_string(action);
    }
  }
  std::map<std::string, std::vector<std::string>> waits;
  for (const Action& action : schedule.per_rank[0]) {
    for (const int64_t id : action.dependencies) {
      waits[to_string(action)].push_back(names[id]);
    }
  }
  using Names = std::vector<std::string>;
  EXPECT_EQ(waits["0F0"], Names());
  EXPECT_EQ(waits["0SEND_F0"], Names{"0F0"});
  EXPECT_EQ(waits["0RECV_B0"], Names{"1SEND_B0"});
  EXPECT_EQ(waits["0B0"], (Names{"0F0", "0RECV_B0"}));
  EXPECT_EQ(waits["END_REDUCE"], (Names{"0B0", "0B1"}));
  EXPECT_EQ(waits["EXCHANGE_TIED"], (Names{"END_REDUCE", "END_REDUCE"}));
  EXPECT_EQ(waits["NORM"], (Names{"EXCHANGE_TIED", "EXCHANGE_TIED"}));
  EXPECT_EQ(waits["OPT_STEP"], Names{"NORM"});
  EXPECT_EQ(waits["GATHER_PARAMS"], (Names{"OPT_STEP", "OPT_STEP"}));
}

TEST(Lowering, OptimizerWaitsForTheNormOfItsOwnRank) {
  const Schedule schedule = two_ranks();
  for (const auto& row : schedule.per_rank) {
    EXPECT_EQ(row[row.size() - 2].dependencies, std::vector<int64_t>{row[row.size() - 3].id});
  }
}

}  // namespace
}  // namespace brigade::schedule
