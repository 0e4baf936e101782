// SPDX-License-Identifier: Apache-2.0
// What spawn() does with the signals that it gets, and with ranks that listen to theirs.
#include <csignal>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/signal_process.h"
#include "tests/trainer/launch/spawn_ranks.h"
#include "trainer/launch/stop_signals.h"

namespace brigade::launch {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST_F(Spawn, R051PassesOnAnInterruptAndLeavesNobody) {
  start_launcher("hang");
  testing::signal_process(launcher_, SIGINT);
  EXPECT_EQ(launcher_code(), 130);
  EXPECT_TRUE(ranks_are_gone());
}

TEST_F(Spawn, R052WaitsForRanksThatSaveAndSaysSo) {
  for (const int number : {SIGTERM, SIGUSR1}) {
    start_launcher("save_when_told", 20s);
    testing::signal_process(launcher_, number);
    EXPECT_EQ(launcher_code(), 75);
    EXPECT_EQ(launcher_console(),
              "brigade: stopped by " + signal_name(number) + ", checkpoint saved\n");
    EXPECT_TRUE(ranks_are_gone());
    begin_again();
  }
}

TEST_F(Spawn, R052OneWishMayReachLauncherAndRanks) {
  start_launcher("save_when_told", 20s);
  testing::signal_process(pids_[2], SIGTERM);
  std::this_thread::sleep_for(300ms);
  testing::signal_process(launcher_, SIGTERM);
  testing::signal_process(launcher_, SIGTERM);  // as `timeout` does
  testing::signal_process(pids_[0], SIGTERM);
  EXPECT_EQ(launcher_code(), 75);
  EXPECT_EQ(launcher_console(), "brigade: stopped by SIGTERM, checkpoint saved\n");
}

TEST_F(Spawn, R052ASecondWishEndsRanksThatSave) {
  start_launcher("save_for_long", 20s);
  testing::signal_process(launcher_, SIGTERM);
  std::this_thread::sleep_for(kSignalEcho + 100ms);
  testing::signal_process(launcher_, SIGTERM);
  EXPECT_EQ(launcher_code(), 143);
  EXPECT_EQ(launcher_console(), "brigade: stopped by SIGTERM\n");
  EXPECT_TRUE(ranks_are_gone());
}

TEST_F(Spawn, SaysWhenARunWasDoneAnyway) {
  start_launcher("finish_when_told", 20s);
  testing::signal_process(launcher_, SIGUSR1);
  EXPECT_EQ(launcher_code(), 0);
  EXPECT_EQ(launcher_console(), "brigade: stopped by SIGUSR1 when all was done\n");
}

TEST_F(Spawn, AnInterruptDoesNotWaitForASave) {
  start_launcher("save_when_told", 20s);
  testing::signal_process(launcher_, SIGINT);
  EXPECT_EQ(launcher_code(), 130);
  EXPECT_EQ(launcher_console(), "brigade: stopped by SIGINT\n");
}

TEST_F(Spawn, PrintsWhyARankCouldNotSave) {
  start_launcher("cannot_save", 20s);
  testing::signal_process(launcher_, SIGTERM);
  EXPECT_EQ(launcher_code(), 1);
  EXPECT_EQ(
      launcher_console(),
      "brigade: rank 1 of 3 failed: no space left on the disk (log: " + folder_ + "/rank_1.log)\n");
}

TEST_F(Spawn, R052ARankThatIsToldAloneIsNoFailure) {
  start_launcher("save_when_told", 20s);
  for (const pid_t pid : pids_) {
    testing::signal_process(pid, SIGTERM);
  }
  EXPECT_EQ(launcher_code(), 75);
  EXPECT_EQ(launcher_console(), "");
}

TEST_F(Spawn, EndsRanksThatOnlyNoteSignalsWhenAnotherFails) {
  EXPECT_EQ(run("fail_among_listeners"), 1);
  EXPECT_THAT(console(), HasSubstr("rank 1 of 3 failed: the loss is NaN at step 3"));
}

TEST_F(Spawn, R051PassesOnATerminationAndKillsTheDeaf) {
  start_launcher("hang_deaf");
  testing::signal_process(launcher_, SIGTERM);
  EXPECT_EQ(launcher_code(), 143);
  EXPECT_TRUE(ranks_are_gone());
}

TEST_F(Spawn, R051KillsAtTheSecondInterrupt) {
  start_launcher("hang_deaf");
  testing::signal_process(launcher_, SIGINT);
  testing::signal_process(launcher_, SIGINT);  // may arrive as one; then the grace ends it
  EXPECT_EQ(launcher_code(), 130);
  EXPECT_TRUE(ranks_are_gone());
}

TEST_F(Spawn, R051RanksDieWithAKilledLauncher) {
  start_launcher("hang_deaf");
  testing::signal_process(launcher_, SIGKILL);
  EXPECT_EQ(launcher_code(), 128 + SIGKILL);
  EXPECT_TRUE(ranks_are_gone());
}

}  // namespace
}  // namespace brigade::launch
