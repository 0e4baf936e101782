// SPDX-License-Identifier: Apache-2.0
#include "parallel/schedule/units.h"

#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"

namespace brigade::schedule {
namespace {

using ::testing::HasSubstr;

Schedule stages_of(Kind kind, int64_t ranks, int64_t microbatches) {
  return value_or_throw(generate({.kind = kind, .ranks = ranks, .microbatches = microbatches}));
}

Schedule one_rank(int64_t microbatches) {
  return stages_of(Kind::kOneForwardOneBackward, 1, microbatches);
}

/// A rank's list up to the tail, as text.
std::string text_of(const Schedule& schedule, size_t rank = 0) {
  std::vector<std::string> texts;
  for (const Action& action : schedule.per_rank[rank]) {
    if (!is_tail(action.kind)) {
      texts.push_back(to_string(action));
    }
  }
  return join(texts, " ");
}

int64_t count(const Schedule& schedule, ActionKind kind) {
  int64_t found = 0;
  for (const std::vector<Action>& row : schedule.per_rank) {
    found += std::ranges::count_if(row, [&](const Action& action) { return action.kind == kind; });
  }
  return found;
}

TEST(Units, RunInOrderAndAreReducedAfterTheirLastBackward) {
  const UnitPlan plan{.units_of_stage = {2}};
  EXPECT_EQ(text_of(lower_units(one_rank(1), plan)),
            "0F0.0 0F0.1 0B0.1 0REDUCE_GRAD.1 0B0.0 0REDUCE_GRAD.0");
  EXPECT_EQ(text_of(lower_units(one_rank(2), plan)),
            "0F0.0 0F0.1 0B0.1 0B0.0 0F1.0 0F1.1 0B1.1 0REDUCE_GRAD.1 0B1.0 0REDUCE_GRAD.0");
}

TEST(Units, AreReducedAfterEachMicrobatchIfAsked) {
  const UnitPlan plan{.units_of_stage = {1}, .reduce = Reduce::kMicrobatch};
  EXPECT_EQ(text_of(lower_units(one_rank(2), plan)),
            "0F0.0 0B0.0 0REDUCE_GRAD0.0 0F1.0 0B1.0 0REDUCE_GRAD1.0");
}

TEST(Units, AreGatheredOneAheadAndFreedBehind) {
  const UnitPlan plan{.units_of_stage = {3}, .weights = Weights::kEachUse, .prefetch = 1};
  EXPECT_EQ(text_of(lower_units(one_rank(1), plan)),
            "0UNSHARD.0 0UNSHARD.1 0F0.0 0RESHARD.0 0UNSHARD.2 0F0.1 0RESHARD.1 0F0.2 "
            "0UNSHARD.1 0B0.2 0RESHARD.2 0REDUCE_GRAD.2 0UNSHARD.0 0B0.1 0RESHARD.1 "
            "0REDUCE_GRAD.1 0B0.0 0RESHARD.0 0REDUCE_GRAD.0");
}

TEST(Units, AreGatheredWhenNeededWithoutPrefetch) {
  const UnitPlan plan{.units_of_stage = {2}, .weights = Weights::kEachUse, .prefetch = 0};
  EXPECT_EQ(text_of(lower_units(one_rank(1), plan)),
            "0UNSHARD.0 0F0.0 0RESHARD.0 0UNSHARD.1 0F0.1 0B0.1 0RESHARD.1 0REDUCE_GRAD.1 "
            "0UNSHARD.0 0B0.0 0RESHARD.0 0REDUCE_GRAD.0");
}

TEST(Units, AreGatheredOnceAStepIfKept) {
  const UnitPlan plan{.units_of_stage = {2}, .weights = Weights::kWholeStep};
  const Schedule kept = lower_units(one_rank(3), plan);
  EXPECT_EQ(count(kept, ActionKind::kUnshard), 2);
  EXPECT_EQ(count(kept, ActionKind::kReshard), 2);
  EXPECT_TRUE(validate_units(kept, plan));
}

/// Every combination is valid, and the bound on whole units is reached.
TEST(Units, HoldWhatIsAskedOfThemOnEverySchedule) {
  for (const Kind kind : {Kind::kGPipe, Kind::kOneForwardOneBackward}) {
    for (const int64_t ranks : {1, 2, 3, 4}) {
      for (const int64_t microbatches : {1, 3, 4}) {
        for (const Weights weights : {Weights::kResident, Weights::kEachUse, Weights::kWholeStep}) {
          for (const int64_t prefetch : {0, 1, 2, 9}) {
            for (const Reduce reduce : {Reduce::kStep, Reduce::kMicrobatch}) {
              UnitPlan plan{{}, weights, prefetch, reduce};
              for (int64_t stage = 0; stage < ranks; ++stage) {
                plan.units_of_stage.push_back(1 + (stage * 2) % 5);
              }
              const Schedule stages = stages_of(kind, ranks, microbatches);
              const Schedule units = lower_units(stages, plan);
              const Result<void> valid = validate_units(units, plan);
              EXPECT_TRUE(valid) << valid.error().text;
              EXPECT_EQ(to_csv(forwards_of(stages), true).find('B'), std::string::npos);
            }
          }
        }
      }
    }
  }
}

TEST(Units, GatherForwardsAloneInAnEvaluation) {
  const UnitPlan plan{.units_of_stage = {2}, .weights = Weights::kEachUse, .prefetch = 1};
  const Schedule evaluation = lower_units(forwards_of(one_rank(1)), plan);
  EXPECT_EQ(text_of(evaluation), "0UNSHARD.0 0UNSHARD.1 0F0.0 0RESHARD.0 0F0.1 0RESHARD.1");
}

TEST(Units, DependOnTheUnitThatCompletesWhatTheyNeed) {
  const Schedule units = lower_units(stages_of(Kind::kGPipe, 2, 1), {.units_of_stage = {2, 3}});
  std::map<int64_t, std::string> text_of_id;
  std::map<std::string, std::set<std::string>> needs;
  for (const std::vector<Action>& row : units.per_rank) {
    for (const Action& action : row) {
      EXPECT_TRUE(text_of_id.emplace(action.id, to_string(action)).second);
    }
  }
  for (const std::vector<Action>& row : units.per_rank) {
    for (const Action& action : row) {
      for (const int64_t id : action.dependencies) {
        needs[to_string(action)].insert(text_of_id.at(id));
      }
    }
  }
  EXPECT_THAT(needs["0SEND_F0"], ::testing::ElementsAre("0F0.1"));
  EXPECT_THAT(needs["1F0.0"], ::testing::ElementsAre("1RECV_F0"));
  EXPECT_THAT(needs["1F0.1"], ::testing::IsEmpty());
  EXPECT_THAT(needs["0B0.1"], ::testing::ElementsAre("0F0.1", "0RECV_B0"));
  EXPECT_THAT(needs["1SEND_B0"], ::testing::ElementsAre("1B0.0"));
}

/// Breaks a valid list at the first action with this text.
template <class Break>
std::string complaint(const UnitPlan& plan, const std::string& text, const Break& break_at) {
  Schedule units = lower_units(one_rank(2), plan);
  std::vector<Action>& row = units.per_rank[0];
  const auto found =
      std::ranges::find_if(row, [&](const Action& action) { return to_string(action) == text; });
  EXPECT_NE(found, row.end());
  break_at(row, found);
  const Result<void> valid = validate_units(units, plan);
  EXPECT_FALSE(valid);
  return valid ? "" : valid.error().text;
}

TEST(ValidateUnits, NamesTheFirstActionThatCannotBe) {
  const UnitPlan plan{.units_of_stage = {3}, .weights = Weights::kEachUse, .prefetch = 1};
  using Row = std::vector<Action>;
  const auto erase = [](Row& row, Row::iterator at) { row.erase(at); };
  EXPECT_THAT(complaint(plan, "0UNSHARD.2", erase), HasSubstr("0F0.2 (after"));
  EXPECT_THAT(complaint(plan, "0UNSHARD.2", erase), HasSubstr("the unit is not whole"));
  EXPECT_THAT(complaint(plan, "0RESHARD.0", erase),
              HasSubstr("3 units are whole; expected at most 2"));
  EXPECT_THAT(complaint(plan, "0REDUCE_GRAD.1", erase),
              HasSubstr("unit 1 of stage 0 is reduced 0 times; expected 1"));
  EXPECT_THAT(complaint(plan, "0F0.1", erase), HasSubstr("expected unit 1 of the stage first"));
  EXPECT_THAT(complaint(plan,
                        "0F0.0",
                        [](Row& row, Row::iterator at) {
                          Action early = *at;
                          early.kind = ActionKind::kReduceUnit;
                          early.microbatch = MicrobatchId();
                          early.id = 1000;
                          early.dependencies.clear();
                          row.insert(at, early);
                        }),
              HasSubstr("the gradient is not complete"));
  EXPECT_THAT(complaint(plan,
                        "0RESHARD.0",
                        [](Row& row, Row::iterator at) {
                          const Action twice = *at;
                          row.insert(at, twice);
                        }),
              HasSubstr("the unit is not whole"));
  EXPECT_THAT(complaint({.units_of_stage = {3}}, "0B1.0", erase),
              HasSubstr("END_REDUCE (after 0F1, before EXCHANGE_TIED) depends on action"));
}

}  // namespace
}  // namespace brigade::schedule
