// SPDX-License-Identifier: Apache-2.0
// R049 with an exception of our own making. The ranks are this test program again: with
// BRIGADE_TEST_TRAIN set it is `brigade train` whose rank 3 throws in step 3, at the action that
// job.description names.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <gmock/gmock.h>

#include "parallel/tensor/program.h"
#include "tests/end_to_end/train_process.h"
#include "tests/support/plays_train.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/folder.h"
#include "trainer/loop/run_rank.h"

namespace brigade::end_to_end {
namespace {

using namespace std::chrono_literals;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kFailing = 3;
constexpr int kStep = 3;

/// Calls something else than the peer of rank 3, which reduces gradients.
void call_out_of_turn(loop::Trainer& trainer) {
  value_or_throw(trainer.program().group({"dp_shard"}).barrier().wait());
}

/// Fails at the first action called `where` in step kStep.
void fail_at(const std::string& where, loop::Trainer& trainer) {
  trainer.set_observer([where, &trainer, step = 1](const schedule::Action& action) mutable {
    if (step == kStep && to_string(action) == where) {
      throw std::runtime_error("the drill's own exception");
    }
    if (step == kStep && where == "collective" &&
        action.kind == schedule::ActionKind::kReduceUnit) {
      call_out_of_turn(trainer);
    }
    step += action.kind == schedule::ActionKind::kOptimizerStep ? 1 : 0;
  });
}

Result<launch::RunEnd> rank_of_the_drill(const config::RunConfig& config,
                                         const launch::RankIdentity& who) {
  return loop::run_rank(config, who, [&](loop::Trainer& trainer) {
    if (who.rank == kFailing) {
      fail_at(config.job.description, trainer);
    }
  });
}

::testing::Environment* const kPlayer =
    ::testing::AddGlobalTestEnvironment(new testing::PlaysTrain(rank_of_the_drill));

class FailingRank : public TrainProcessTest {
 protected:
  void SetUp() override {
    TrainProcessTest::SetUp();
    program_ = "/proc/self/exe";
    setenv(testing::kPlaysTrain, "1", 1);
  }
  void TearDown() override {
    unsetenv(testing::kPlaysTrain);
    TrainProcessTest::TearDown();
  }

  /// dp2 x pp2 whose rank 3 fails at `where`: all end within the limit, one message, two steps.
  void fail_at(const std::string& where, Settings settings = {}) {
    settings.insert(settings.end(),
                    {"parallelism.data_parallel_shard_degree=2",
                     "parallelism.pipeline_parallel_degree=2",
                     "job.description=" + where});
    const Run run = start(settings);
    const int code = run->wait(20s).value_or(-1);
    console_ = run->console();
    EXPECT_EQ(code, 1);
    EXPECT_TRUE(run->all_gone());
    EXPECT_EQ(count_of("brigade: ", console_), 1);
    EXPECT_EQ(records().size(), 2U);
  }
};

TEST_F(FailingRank, R049AnExceptionInForwardIsToldLastAndOnceWithItsRankAndAction) {
  fail_at("1F1.0");
  EXPECT_THAT(
      last_line(console_),
      StartsWith("brigade: rank 3 of 4 failed: step 3, rank 3, 1F1.0: the drill's own exception"));
}

TEST_F(FailingRank, R049AnExceptionInBackwardIsToldLastAndOnceWithItsRankAndAction) {
  fail_at("1B0.0");
  EXPECT_THAT(
      last_line(console_),
      StartsWith("brigade: rank 3 of 4 failed: step 3, rank 3, 1B0.0: the drill's own exception"));
}

TEST_F(FailingRank, R050ARankThatFailsSavesNothingOnItsWayOut) {
  for (const std::string mode : {"disabled", "async"}) {
    std::filesystem::remove_all(run_folder());
    fail_at("1F1.0",
            {"checkpoint.enable=true", "checkpoint.interval=2", "checkpoint.async_mode=" + mode});
    EXPECT_THAT(last_line(console_), HasSubstr("rank 3 of 4 failed: step 3, rank 3, 1F1.0: "));
    const std::vector<int64_t> steps =
        value_or_throw(checkpoint::list_steps(run_folder() + "/checkpoint"));
    if (mode == "disabled") {
      EXPECT_THAT(steps, ::testing::ElementsAre(2));
    }
    for (const int64_t step : steps) {
      EXPECT_EQ(step, 2);  // in the background it may not have come to be
      EXPECT_TRUE(
          checkpoint::Checkpoint::open(checkpoint::step_path(run_folder() + "/checkpoint", step)));
    }
  }
}

TEST_F(FailingRank, R049ACollectiveThatDoesNotMatchEndsAllAndNamesBothRanks) {
  fail_at("collective");
  const std::string last = last_line(console_);
  EXPECT_THAT(last, AnyOf(StartsWith("brigade: rank 2 of 4"), StartsWith("brigade: rank 3 of 4")));
  EXPECT_THAT(last, HasSubstr("rank 2"));
  EXPECT_THAT(last, HasSubstr("rank 3"));
  EXPECT_THAT(last, HasSubstr("barrier"));
}

}  // namespace
}  // namespace brigade::end_to_end
