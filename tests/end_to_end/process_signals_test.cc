// SPDX-License-Identifier: Apache-2.0
// R051: whoever stops or kills the launcher stops the ranks, also those that wait for a peer.
#include <csignal>
#include <thread>

#include <gmock/gmock.h>

#include "tests/end_to_end/train_process.h"
#include "tests/support/signal_process.h"

namespace brigade::end_to_end {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class ProcessSignals : public TrainProcessTest {
 protected:
  void SetUp() override {
    TrainProcessTest::SetUp();
    run_ = start(endless({"parallelism.data_parallel_shard_degree=4"}));
    ASSERT_TRUE(reaches(run_, 3)) << run_->console();
    ASSERT_EQ(run_->processes().size(), 5U);
  }

  void expect_end(int code) {
    EXPECT_EQ(run_->wait(10s), code);
    EXPECT_TRUE(run_->all_gone());
    console_ = run_->console();
  }

  /// Stops one rank: the others soon wait for it inside a collective.
  void block_the_others() {
    testing::signal_process(run_->rank(3), SIGSTOP);
    size_t before = 0;
    ASSERT_TRUE(testing::comes_true([&] {
      const bool still = before > 0 && records().size() == before;
      before = records().size();
      std::this_thread::sleep_for(100ms);
      return still;
    }));
  }

  Run run_;
};

TEST_F(ProcessSignals, R051AnInterruptOfTheGroupStopsAll) {
  kill(-run_->pid(), SIGINT);
  expect_end(130);
  EXPECT_EQ(last_line(console_), "brigade: stopped by SIGINT");
}

TEST_F(ProcessSignals, R051ATerminationOfTheLauncherStopsAll) {
  testing::signal_process(run_->pid(), SIGTERM);
  expect_end(143);
  EXPECT_EQ(last_line(console_), "brigade: stopped by SIGTERM");
}

TEST_F(ProcessSignals, R051TwoInterruptsStopAll) {
  kill(-run_->pid(), SIGINT);
  kill(-run_->pid(), SIGINT);
  expect_end(130);
}

TEST_F(ProcessSignals, R051AKilledLauncherLeavesNobody) {
  testing::signal_process(run_->pid(), SIGKILL);
  expect_end(137);
}

TEST_F(ProcessSignals, R051RanksThatWaitForAPeerStopToo) {
  block_the_others();
  kill(-run_->pid(), SIGINT);
  expect_end(130);
}

TEST_F(ProcessSignals, R051RanksThatWaitForAPeerDieWithAKilledLauncher) {
  block_the_others();
  testing::signal_process(run_->pid(), SIGKILL);
  expect_end(137);
}

}  // namespace
}  // namespace brigade::end_to_end
