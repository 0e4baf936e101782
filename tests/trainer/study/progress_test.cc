// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/progress.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::study {
namespace {

using ::testing::HasSubstr;

PlannedPoint planned(const std::string& id, const std::string& model, int64_t ranks) {
  PlannedPoint out;
  out.point = {.id = id,
               .ranks = ranks,
               .mesh = ranks == 1 ? "tp=1" : "pp=1 x dp_replicate=1 x dp_shard=2 x tp=1",
               .microbatch_size = 4,
               .global_batch_size = 8,
               .model = model,
               .oversubscribed = ranks > 1};
  out.step_flops = 3e9;
  return out;
}

Study small() {
  Study study;
  study.name = "two";
  study.repeats = 2;
  study.steps = 8;
  study.warmup_steps = 2;
  return study;
}

TEST(Progress, TheBarFillsAndSaysWhatIsLeft) {
  EXPECT_EQ(progress_line(12, 36, 250),
            "[==========>                   ] 12/36 runs  4 min 10 s left");
  EXPECT_EQ(progress_line(0, 36, -1), "[>                             ] 0/36 runs");
  EXPECT_EQ(progress_line(36, 36, 0), "[==============================] 36/36 runs");
}

TEST(Progress, DurationsAreInWords) {
  EXPECT_EQ(duration_words(0.4), "0 s");
  EXPECT_EQ(duration_words(59.6), "1 min 00 s");
  EXPECT_EQ(duration_words(3780), "1 h 03 min");
  EXPECT_EQ(duration_words(std::numeric_limits<double>::quiet_NaN()), "?");
  EXPECT_EQ(duration_words(-3), "0 s");
}

TEST(Progress, AGuessIsRoughUntilSomethingLikeItRan) {
  Grid grid;
  grid.points = {planned("a", "tiny", 1),
                 planned("b", "tiny", 2),
                 planned("c", "tiny", 2),
                 planned("d", "small", 2)};
  const Study study = small();
  TimeGuess guess(grid, study, 2);
  // 10 steps of 3e9: 1 s on one core, and the start
  EXPECT_TRUE(guess.of(0).rough);
  EXPECT_DOUBLE_EQ(guess.of(0).seconds, kGuessedStartSeconds + 1);
  EXPECT_DOUBLE_EQ(guess.of(1).seconds, kGuessedStartSeconds + 0.5);

  guess.took(1, 4);
  guess.took(1, 6);
  EXPECT_DOUBLE_EQ(guess.of(1).seconds, 5);
  EXPECT_DOUBLE_EQ(guess.of(2).seconds, 5) << "same model and ranks";
  EXPECT_FALSE(guess.of(2).rough);
  EXPECT_TRUE(guess.of(3).rough) << "another model";
  EXPECT_TRUE(guess.of(0).rough) << "other ranks";
}

TEST(Progress, AGuessIsNeverAboveTheTimeout) {
  Grid grid;
  grid.points = {planned("a", "huge", 1)};
  grid.points[0].step_flops = 1e18;
  const Study study = small();
  EXPECT_DOUBLE_EQ(TimeGuess(grid, study, 2).of(0).seconds, 300);
}

TEST(Progress, TheListShowsPointsMarksReasonsAndTotals) {
  Grid grid;
  grid.constant = "constant: the model and the global batch";
  grid.points = {planned("a", "llama3 tiny", 1), planned("b", "llama3 tiny", 2)};
  grid.refused = {{"c", "because"}};
  const Study study = small();
  EXPECT_EQ(list_text(grid, study, TimeGuess(grid, study, 2)),
            "two: strong scaling; constant: the model and the global batch\n"
            "point  ranks  threads  mesh      ZeRO  schedule  microbatch  batch  model        one "
            "run\n"
            "a      1      1        one rank  -     -         4           8      llama3 tiny  ~ 3 "
            "s\n"
            "b      2      1        dp2       0     -         4           8      llama3 tiny  ~ 3 "
            "s    oversubscribed\n"
            "2 points x 2 repeats = 4 runs of 8 steps after 2 of warm-up: about 11 s\n"
            "~: a rough guess from 30 GFLOP/s a core and a start of 2 s; what has run makes it "
            "better\n"
            "1 combination cannot run:\n"
            "  c: because\n");
  TimeGuess known(grid, study, 2);
  known.took(0, 1);
  known.took(1, 2);
  EXPECT_THAT(list_text(grid, study, known), HasSubstr("about 6 s\n1 combination"));
}

}  // namespace
}  // namespace brigade::study
