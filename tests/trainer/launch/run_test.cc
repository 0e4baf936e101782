// SPDX-License-Identifier: Apache-2.0
#include "trainer/launch/run.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/command_run.h"
#include "tests/support/rank_threads.h"

namespace brigade::launch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Run : public ::testing::Test {
 protected:
  testing::CommandRun start(const std::vector<std::string>& arguments,
                            std::map<std::string, std::string> environment = {}) {
    std::vector<std::string> command = {BRIGADE_RUN_PROGRAM};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const std::string console = ::testing::TempDir() + "run_test_" +
                                ::testing::UnitTest::GetInstance()->current_test_info()->name() +
                                std::to_string(started_);
    started_ += 1;
    return testing::CommandRun({std::move(command), std::move(environment), console});
  }

  static std::map<std::string, std::string> rank_of_two(int rank, uint16_t port) {
    return {{"RANK", std::to_string(rank)},
            {"WORLD_SIZE", "2"},
            {"MASTER_ADDR", "127.0.0.1"},
            {"MASTER_PORT", std::to_string(port)}};
  }

  static constexpr std::chrono::seconds kLimit{30};
  int started_ = 0;
};

TEST_F(Run, IsOneRankByItself) {
  testing::CommandRun run = start({});
  EXPECT_EQ(run.wait(kLimit), 0);
  EXPECT_EQ(run.console(), "rank 0 of 1: 1\n");
}

TEST_F(Run, StartsTheRanksItselfAndShowsTheFirstOnesOutput) {
  testing::CommandRun run = start({"--ranks=3"});
  EXPECT_EQ(run.wait(kLimit), 0);
  EXPECT_EQ(run.console(), "rank 0 of 3: 6\n");
}

TEST_F(Run, IsARankOfWhoeverSetTheEnvironment) {
  const uint16_t port = testing::free_port();
  testing::CommandRun first = start({}, rank_of_two(0, port));
  testing::CommandRun second = start({}, rank_of_two(1, port));
  EXPECT_EQ(first.wait(kLimit), 0);
  EXPECT_EQ(second.wait(kLimit), 0);
  EXPECT_EQ(first.console(), "rank 0 of 2: 3\n");
  EXPECT_EQ(second.console(), "rank 1 of 2: 3\n");
}

TEST_F(Run, PrintsOnceWhatTheFirstFailedRankSaid) {
  testing::CommandRun run = start({"--ranks=3", "fail=2"});
  EXPECT_EQ(run.wait(kLimit), 1);
  const std::string console = run.console();
  EXPECT_THAT(console, HasSubstr("rank 2"));
  EXPECT_THAT(console, HasSubstr("the oven is cold"));
  EXPECT_EQ(console.find("oven"), console.rfind("oven"));
  EXPECT_TRUE(run.all_gone());
}

TEST_F(Run, SaysWhichRankFailedWithoutALauncherOfOurs) {
  testing::CommandRun run = start({"fail=0"});
  EXPECT_EQ(run.wait(kLimit), 1);
  EXPECT_EQ(run.console(), "rank 0 of 1 failed: the oven is cold\n");
}

TEST_F(Run, RefusesRanksThatAreNoNumber) {
  for (const std::string number : {"", "0", "two", "3.5", "-1", "1025"}) {
    testing::CommandRun run = start({"--ranks=" + number});
    EXPECT_EQ(run.wait(kLimit), 2) << number;
    EXPECT_THAT(run.console(),
                HasSubstr("--ranks must be an integer from 1 to 1024, found \"" + number + '"'));
  }
}

TEST_F(Run, RefusesRanksThatContradictTheLauncher) {
  testing::CommandRun run = start({"--ranks=3"}, rank_of_two(0, 1));
  EXPECT_EQ(run.wait(kLimit), 2);
  EXPECT_THAT(run.console(), HasSubstr("--ranks=3 contradicts RANK and WORLD_SIZE"));
  EXPECT_THAT(run.console(), HasSubstr("say 2 ranks"));
}

TEST_F(Run, RefusesAHalfSetEnvironment) {
  testing::CommandRun run = start({}, {{"RANK", "0"}});
  EXPECT_EQ(run.wait(kLimit), 2);
  EXPECT_THAT(run.console(), HasSubstr("WORLD_SIZE is missing"));
}

}  // namespace
}  // namespace brigade::launch
