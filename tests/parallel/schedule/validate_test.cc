// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "parallel/schedule/lowering.h"
#include "parallel/schedule/schedule.h"

namespace brigade::schedule {
namespace {

using Row = std::vector<Action>;

/// 0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0B1 tail
/// 1RECV_F0 1F0 1B0 1SEND_B0 1RECV_F1 1F1 1B1 1SEND_B1 tail
Schedule sound() {
  return value_or_throw(generate({Kind::kOneForwardOneBackward, 2, 2}));
}

/// The text with which the schedule is refused after `change`.
std::string refusal(const std::function<void(Schedule&)>& change) {
  Schedule schedule = sound();
  change(schedule);
  const auto valid = validate(schedule);
  if (valid) {
    return "accepted";
  }
  EXPECT_EQ(valid.error().code, ErrorCode::kUsage);
  return valid.error().text;
}

std::string refusal_of_row(size_t rank, const std::function<void(Row&)>& change) {
  return refusal([&](Schedule& schedule) { change(schedule.per_rank[rank]); });
}

/// A dropped action is nobody's dependency any more.
std::string refusal_without(size_t rank, int64_t index) {
  return refusal([&](Schedule& schedule) {
    const int64_t id = schedule.per_rank[rank][static_cast<size_t>(index)].id;
    schedule.per_rank[rank].erase(schedule.per_rank[rank].begin() + index);
    for (Row& row : schedule.per_rank) {
      for (Action& action : row) {
        std::erase(action.dependencies, id);
      }
    }
  });
}

TEST(Validate, AcceptsTheUnchangedSchedule) {
  EXPECT_EQ(refusal([](Schedule&) {}), "accepted");
}

TEST(Validate, MissesADroppedForward) {
  EXPECT_EQ(refusal_without(0, 2),
            "schedule: rank 0, action 6: 0B1 (after 0RECV_B1, before END_REDUCE) has no forward");
}

TEST(Validate, MissesADroppedBackward) {
  EXPECT_EQ(refusal_without(1, 2),
            "schedule: rank 1, action 1: 1F0 (after 1RECV_F0, before 1SEND_B0) has no backward");
}

TEST(Validate, MissesAMicrobatchThatIsNotThere) {
  EXPECT_EQ(refusal([](Schedule& schedule) { schedule.header.microbatches = 3; }),
            "schedule: stage 0, microbatch 2 has neither forward nor backward on rank 0");
}

TEST(Validate, MissesADroppedSend) {
  EXPECT_EQ(refusal_without(0, 1),
            "schedule: rank 0, action 0: 0F0 (after the start, before 0F1) has no 0SEND_F0 after "
            "it");
}

TEST(Validate, MissesADroppedReceive) {
  EXPECT_EQ(refusal_without(1, 0),
            "schedule: rank 1, action 0: 1F0 (after the start, before 1B0) has no 1RECV_F0 before "
            "it");
}

TEST(Validate, MissesADroppedEnd) {
  EXPECT_EQ(refusal_without(1, 12), "schedule: rank 1 ends without GATHER_PARAMS");
}

TEST(Validate, MissesAStepWithoutNorm) {
  EXPECT_THAT(refusal_without(0, 10),
              testing::StartsWith("schedule: rank 0, action 10: OPT_STEP (after EXCHANGE_TIED, "
                                  "before GATHER_PARAMS) expected NORM there"));
}

TEST(Validate, RefusesAnythingTwice) {
  for (int64_t index = 0; index < 8; ++index) {
    const std::string text = refusal_of_row(1, [&](Row& row) {
      row.insert(row.begin() + index, row[static_cast<size_t>(index)]);
      row[static_cast<size_t>(index)].id = 1000;
    });
    EXPECT_THAT(text, testing::HasSubstr(" stands there a second time; the first is rank 1"));
  }
}

TEST(Validate, RefusesTheEndTwice) {
  EXPECT_THAT(refusal_of_row(0,
                             [](Row& row) {
                               row.push_back(row.back());
                               row.back().id = 1000;
                             }),
              testing::StartsWith("schedule: rank 0, action 13: GATHER_PARAMS (after "
                                  "GATHER_PARAMS, before the end) expected the end there"));
}

TEST(Validate, RefusesTwoActionsWithOneId) {
  EXPECT_EQ(refusal_of_row(0, [](Row& row) { row[1].id = 0; }),
            "schedule: rank 0, action 1: 0SEND_F0 (after 0F0, before 0F1) has id 0; expected one "
            "of its own, not negative");
}

TEST(Validate, RefusesAReceiveBehindItsConsumer) {
  EXPECT_EQ(refusal_of_row(1, [](Row& row) { std::swap(row[0], row[1]); }),
            "schedule: rank 1, action 0: 1F0 (after the start, before 1RECV_F0) has no 1RECV_F0 "
            "before it");
}

TEST(Validate, RefusesASendBeforeItsProducer) {
  EXPECT_EQ(refusal_of_row(0, [](Row& row) { std::swap(row[0], row[1]); }),
            "schedule: rank 0, action 1: 0F0 (after 0SEND_F0, before 0F1) has no 0SEND_F0 after "
            "it");
}

TEST(Validate, RefusesABackwardBeforeItsForward) {
  EXPECT_EQ(refusal_of_row(1, [](Row& row) { std::swap(row[1], row[2]); }),
            "schedule: rank 1, action 1: 1B0 (after 1RECV_F0, before 1F0) comes before its "
            "forward, rank 1, action 2: 1F0 (after 1B0, before 1SEND_B0)");
}

TEST(Validate, RefusesAnEndOutOfOrder) {
  EXPECT_THAT(refusal_of_row(0, [](Row& row) { std::swap(row[8], row[9]); }),
              testing::StartsWith("schedule: rank 0, action 8: EXCHANGE_TIED (after 0B1, before "
                                  "END_REDUCE) expected END_REDUCE there"));
}

TEST(Validate, RefusesAReductionBeforeTheLastBackward) {
  EXPECT_THAT(refusal_of_row(0, [](Row& row) { std::swap(row[7], row[8]); }),
              testing::StartsWith("schedule: rank 0, action 8: 0B1 (after END_REDUCE, before "
                                  "EXCHANGE_TIED) expected EXCHANGE_TIED there"));
}

TEST(Validate, RefusesAWrongPeer) {
  EXPECT_EQ(refusal_of_row(1, [](Row& row) { row[3].peer = 1; }),
            "schedule: rank 1, action 3: 1SEND_B0 (after 1B0, before 1RECV_F1) expected peer 0; "
            "found 1");
}

TEST(Validate, RefusesATransferThatLeadsNowhere) {
  EXPECT_EQ(refusal_of_row(0,
                           [](Row& row) {
                             row.insert(row.begin() + 1, row[1]);
                             row[1].kind = ActionKind::kSendGradient;
                             row[1].id = 1000;
                           }),
            "schedule: rank 0, action 1: 0SEND_B0 (after 0F0, before 0SEND_F0): no other rank is "
            "at the other end of it");
}

TEST(Validate, RefusesAStageAwayFromHome) {
  EXPECT_EQ(refusal_of_row(0, [](Row& row) { row[0].stage = StageId(1); }),
            "schedule: rank 0, action 0: 1F0 (after the start, before 0SEND_F0): stage 1 is on "
            "rank 1");
}

TEST(Validate, RefusesAStageThatDoesNotExist) {
  EXPECT_EQ(refusal_of_row(0, [](Row& row) { row[0].stage = StageId(2); }),
            "schedule: rank 0, action 0: 2F0 (after the start, before 0SEND_F0) expected a stage "
            "below 2 and a microbatch below 2; found stage 2, microbatch 0");
}

TEST(Validate, RefusesADependencyOnNothing) {
  EXPECT_EQ(refusal_of_row(0, [](Row& row) { row[1].dependencies.push_back(99); }),
            "schedule: rank 0, action 1: 0SEND_F0 (after 0F0, before 0F1) depends on action 99, "
            "which is nowhere");
}

TEST(Validate, RefusesChannelsWhoseEndsDisagreeOnTheOrder) {
  EXPECT_EQ(refusal_of_row(0,
                           [](Row& row) {
                             std::swap(row[0], row[2]);
                             std::swap(row[1], row[3]);
                           }),
            "schedule: message 0 from rank 0 to rank 1 differs between the two ends: sent by rank "
            "0, action 1: 0SEND_F1 (after 0F1, before 0F0), received by rank 1, action 0: 1RECV_F0 "
            "(after the start, before 1F0)");
}

TEST(Validate, RefusesHeadersThatContradictThemselves) {
  EXPECT_THAT(refusal([](Schedule& schedule) { schedule.header.ranks = 0; }),
              testing::StartsWith("schedule: expected at least 1 rank, stage and microbatch"));
  EXPECT_EQ(refusal([](Schedule& schedule) { schedule.header.stages = 3; }),
            "schedule: expected a rank for each of 3 stages; found 2");
  EXPECT_EQ(refusal([](Schedule& schedule) { schedule.per_rank.pop_back(); }),
            "schedule: expected one list of actions for each of 2 ranks; found 1");
}

/// Rank 0 wants the gradient of microbatch 0 before it sends microbatch 1; rank 1 wants both
/// microbatches before it sends a gradient.
TEST(Validate, PrintsTheWaitCycleOfADeadlock) {
  const auto schedule = parse_csv("0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n", sound().header);
  ASSERT_FALSE(schedule);
  const std::string& text = schedule.error().text;
  EXPECT_THAT(text, testing::StartsWith("schedule: these actions wait for each other in a cycle:"));
  for (const char* const step :
       {"rank 0, action 2: 0RECV_B0 (after 0SEND_F0, before 0B0) waits for",
        "rank 1, action 4: 1B0 (after 1F1, before 1SEND_B0) waits for",
        "rank 1, action 2: 1RECV_F1 (after 1F0, before 1F1) waits for",
        "rank 0, action 5: 0SEND_F1 (after 0F1, before 0RECV_B1) waits for",
        "the first of them"}) {
    EXPECT_THAT(text, testing::HasSubstr(step));
  }
}

TEST(Validate, RefusesAnActionThatDependsOnItself) {
  EXPECT_EQ(refusal_of_row(0, [](Row& row) { row[0].dependencies.push_back(row[0].id); }),
            "schedule: these actions wait for each other in a cycle:\n  rank 0, action 0: 0F0 "
            "(after the start, before 0SEND_F0) waits for\n  the first of them");
}

TEST(Validate, RefusesEveryScheduleThatLacksOneAction) {
  const Schedule whole = value_or_throw(generate({Kind::kOneForwardOneBackward, 3, 4}));
  for (size_t rank = 0; rank < whole.per_rank.size(); ++rank) {
    for (size_t index = 0; index < whole.per_rank[rank].size(); ++index) {
      Schedule schedule = whole;
      schedule.per_rank[rank].erase(schedule.per_rank[rank].begin() +
                                    static_cast<std::ptrdiff_t>(index));
      EXPECT_FALSE(validate(schedule)) << "rank " << rank << " without action " << index;
    }
  }
}

}  // namespace
}  // namespace brigade::schedule
