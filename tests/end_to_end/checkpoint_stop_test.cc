// SPDX-License-Identifier: Apache-2.0
// R038, R052: a run that is asked to stop saves one checkpoint of one step, leaves with 75, and the
// next run goes on with the next sample.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include <gmock/gmock.h>

#include "tests/end_to_end/checkpoint_process.h"
#include "tests/support/signal_process.h"
#include "trainer/metrics/run_folder.h"

namespace brigade::end_to_end {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

/// Four ranks that never save by themselves.
class CheckpointStop : public CheckpointProcessTest {
 protected:
  static Settings settings(Settings more = {}) {
    Settings all = saving(kDp2Pp2, 1'000'000);
    all.emplace_back("checkpoint.interval=1000000");
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  Run running(const Settings& more = {}) {
    Run run = start(settings(more));
    EXPECT_TRUE(reaches(run, 3)) << run->console();
    return run;
  }

  /// All are gone soon, one checkpoint of the last step is there, and two more steps follow on it.
  void expect_stopped(const Run& run, const std::string& asked_by) {
    EXPECT_EQ(run->wait(10s), 75);
    console_ = run->console();
    EXPECT_TRUE(run->all_gone());
    const auto last = static_cast<int64_t>(records().size());
    EXPECT_THAT(whole_steps(), ::testing::ElementsAre(last));
    expect_no_leftovers();
    EXPECT_THAT(console_, HasSubstr("after step " + std::to_string(last)));
    EXPECT_THAT(console_, HasSubstr(asked_by));
    const std::vector<double> before = losses();
    Settings on = settings({"training.steps=" + std::to_string(last + 2)});
    EXPECT_EQ(train(on), 0);
    expect_went_on_from(last);
    EXPECT_EQ(records().size(), before.size() + 2);
    const std::vector<double> resumed = losses();
    std::filesystem::remove_all(run_folder());
    on.emplace_back("checkpoint.enable=false");
    EXPECT_EQ(train(on), 0);
    EXPECT_EQ(losses(), resumed);
  }
};

TEST_F(CheckpointStop, R052ASignalToOneWorkerStopsAllAtOneStep) {
  std::mt19937 random(52);
  const Run run = running();
  testing::signal_process(run->rank(static_cast<int>(random() % 4)), SIGTERM);
  expect_stopped(run, "SIGTERM");
}

TEST_F(CheckpointStop, R052SignalsToAllAtDifferentTimesStopAllAtOneStep) {
  std::mt19937 random(52);
  for (const Settings& more : {Settings{}, Settings{"checkpoint.async_mode=async"}}) {
    const Run run = running(more);
    std::vector<std::thread> hands;
    std::vector<pid_t> pids = {run->rank(0), run->rank(1), run->rank(2), run->rank(3)};
    for (const pid_t pid : pids) {
      hands.emplace_back([pid, delay = std::chrono::milliseconds(random() % 300)] {
        std::this_thread::sleep_for(delay);
        testing::signal_process(pid, SIGTERM);
      });
    }
    for (std::thread& hand : hands) {
      hand.join();
    }
    expect_stopped(run, "SIGTERM");
    std::filesystem::remove_all(run_folder());
  }
}

TEST_F(CheckpointStop, R052ASignalToTheLauncherStopsAll) {
  const Run run = running();
  testing::signal_process(run->pid(), SIGTERM);
  expect_stopped(run, "brigade: stopped by SIGTERM, checkpoint saved");
}

TEST_F(CheckpointStop, R038ASignalStopsARunThatSavesInTheBackground) {
  const Run run = running({"checkpoint.async_mode=async", "checkpoint.interval=1"});
  testing::signal_process(run->pid(), SIGUSR1);
  EXPECT_EQ(run->wait(10s), 75);
  console_ = run->console();
  EXPECT_TRUE(run->all_gone());
  EXPECT_EQ(last_line(console_), "brigade: stopped by SIGUSR1, checkpoint saved");
  EXPECT_EQ(whole_steps().front(), static_cast<int64_t>(records().size()));
  expect_no_leftovers();
}

TEST_F(CheckpointStop, R038TheLastStepOfARunThatSavesInTheBackgroundIsSaved) {
  EXPECT_EQ(train(settings({"checkpoint.async_mode=async", "training.steps=4"})), 0);
  EXPECT_THAT(whole_steps(), ::testing::ElementsAre(4));
  expect_no_leftovers();
}

TEST_F(CheckpointStop, AFileStopsARunAndIsRemoved) {
  const Run run = running();
  std::ofstream{metrics::stop_file_path(run_folder())};
  expect_stopped(run, "STOP");
  EXPECT_FALSE(metrics::stop_file_is_there(run_folder()));
}

TEST_F(CheckpointStop, ASingleRankStopsToo) {
  const Run run = running(
      {"parallelism.data_parallel_shard_degree=1", "parallelism.pipeline_parallel_degree=1"});
  EXPECT_EQ(run->processes().size(), 1U);
  testing::signal_process(run->pid(), SIGTERM);
  EXPECT_EQ(run->wait(10s), 75);
  EXPECT_EQ(whole_steps().front(), static_cast<int64_t>(records().size()));
}

TEST_F(CheckpointStop, WithoutCheckpointsASignalEndsARunAsBefore) {
  const Run run = running({"checkpoint.enable=false"});
  testing::signal_process(run->pid(), SIGTERM);
  EXPECT_EQ(run->wait(10s), 143);
  EXPECT_THAT(run->console(), Not(HasSubstr("saved")));
}

TEST_F(CheckpointStop, ARunThatCannotSaveSaysWhy) {
  const Run run =
      start_with({{.calls = "write", .path = ".saving/rank-00002", .error = ENOSPC}}, settings());
  ASSERT_TRUE(reaches(run, 3)) << run->console();
  testing::signal_process(run->pid(), SIGTERM);
  EXPECT_EQ(run->wait(10s), 1);
  EXPECT_TRUE(run->all_gone());
  EXPECT_THAT(last_line(run->console()), HasSubstr("rank 2 of 4 failed: "));
  EXPECT_THAT(last_line(run->console()), HasSubstr("No space left on device"));
}

}  // namespace
}  // namespace brigade::end_to_end
