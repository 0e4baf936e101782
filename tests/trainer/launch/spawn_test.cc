// SPDX-License-Identifier: Apache-2.0
#include "trainer/launch/spawn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/launch/spawn_ranks.h"

namespace brigade::launch {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Spawn, IsDoneWhenAllRanksAre) {
  EXPECT_EQ(run("done"), 0);
  EXPECT_EQ(console(), "");
}

TEST_F(Spawn, TellsEachRankWhoItIs) {
  EXPECT_EQ(run("tell"), 0);
  EXPECT_EQ(log(1), "1/3 127.0.0.1 1 RANK and WORLD_SIZE (brigade's own launcher)\n");
  EXPECT_EQ(log(2), "2/3 127.0.0.1 1 RANK and WORLD_SIZE (brigade's own launcher)\n");
}

TEST_F(Spawn, EndsTheOthersWhenOneFailsAndPrintsItsWords) {
  EXPECT_EQ(run("fail"), 1);
  EXPECT_THAT(console(),
              HasSubstr("brigade: rank 1 of 3 failed: the loss is NaN at step 3 (log: "));
}

TEST_F(Spawn, R049PrintsTheOriginsWordsOnce) {
  EXPECT_EQ(run("fail_and_report"), 2);
  EXPECT_THAT(console(), HasSubstr("rank 1 of 3 failed: first"));
  EXPECT_THAT(console(), Not(HasSubstr("second hand")));
}

TEST_F(Spawn, KillsRanksThatIgnoreSignals) {
  EXPECT_EQ(run("fail_deaf"), 1);
  EXPECT_THAT(console(), HasSubstr("rank 1 of 3 failed: deaf"));
}

TEST_F(Spawn, R049DoesNotWaitForARankThatIsStuckAfterItsReport) {
  EXPECT_EQ(run("report_and_hang"), 1);
  EXPECT_THAT(console(), HasSubstr("rank 1 of 3 failed: stuck on my way out"));
}

TEST_F(Spawn, NamesARankThatWasKilledAndWhatOthersSaw) {
  EXPECT_EQ(run("killed"), 128 + SIGKILL);
  EXPECT_THAT(console(),
              HasSubstr("rank 1 of 3 was killed by SIGKILL; rank 0 says: rank 1 hung up"));
}

TEST_F(Spawn, NamesARankThatTheOthersWaitedForInVain) {
  EXPECT_EQ(run("stalled"), 1);
  EXPECT_THAT(console(),
              HasSubstr("rank 1 of 3 did not report and had to be ended; rank 0 says: waited in "
                        "vain for rank 1"));
}

TEST_F(Spawn, R049EndsAStoppedRankWithoutWaitingForTheKill) {
  SpawnOptions options = quick(folder_);
  options.console = &console_;
  options.terminate_grace = 30s;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(run(3, "stopped", options), 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_THAT(console(), HasSubstr("rank 1 of 3 did not report and had to be ended"));
}

TEST_F(Spawn, ShowsTheEndOfTheLogOfARankThatCrashedAboveTheMessage) {
  EXPECT_EQ(run("crash"), 3);
  EXPECT_EQ(console(),
            "[rank 1] terminate called\n[rank 1] boom\n"
            "brigade: rank 1 of 3 ended with exit code 3 and no report (log: " +
                folder_ + "/rank_1.log)\n");
}

TEST_F(Spawn, PassesOnThatTheRanksStoppedEarly) {
  EXPECT_EQ(run("early"), 75);
}

TEST_F(Spawn, SaysWhenThereIsNothingToRun) {
  SpawnOptions options = quick(folder_);
  options.console = &console_;
  options.executable = "/no/such/program";
  EXPECT_EQ(run(2, "tell", options), 1);
  EXPECT_THAT(console(), HasSubstr("ended with exit code 1 and no report"));
  EXPECT_THAT(log(1), HasSubstr("could not run /no/such/program"));
}

TEST_F(Spawn, GoesOnWithoutLogsWhenTheyCannotBeWritten) {
  SpawnOptions options = quick("/no/such/folder");
  options.console = &console_;
  EXPECT_EQ(run(3, "done", options), 0);
}

TEST_F(Spawn, AppendsToTheLogsWhenToldTo) {
  SpawnOptions options = quick(folder_);
  EXPECT_EQ(run(2, "tell", options), 0);
  const std::string once = log(1);
  options.append_logs = true;
  EXPECT_EQ(run(2, "tell", options), 0);
  EXPECT_EQ(log(1), once + once);
  options.append_logs = false;
  EXPECT_EQ(run(2, "tell", options), 0);
  EXPECT_EQ(log(1), once);
}

TEST_F(Spawn, R051TheSamePortServesTheNextRun) {
  const Result<int> port = free_loopback_port();
  ASSERT_TRUE(port);
  SpawnOptions options = quick(folder_);
  options.port = *port;
  EXPECT_EQ(run(2, "tell", options), 0);
  EXPECT_EQ(run(2, "tell", options), 0);
}

}  // namespace
}  // namespace brigade::launch
