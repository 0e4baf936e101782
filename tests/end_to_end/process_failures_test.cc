// SPDX-License-Identifier: Apache-2.0
// Law 9: nobody hangs. A rank that dies, stalls or never comes is named, and nothing is left.
#include <csignal>

#include <gmock/gmock.h>

#include "tests/end_to_end/train_process.h"
#include "tests/support/listening_sockets.h"

namespace brigade::end_to_end {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

const Settings kDp2Pp2 = {"parallelism.data_parallel_shard_degree=2",
                          "parallelism.pipeline_parallel_degree=2"};

class ProcessFailures : public TrainProcessTest {
 protected:
  /// Ends badly within `limit`, and nobody is left.
  void expect_failed(const Run& run, std::chrono::milliseconds limit) {
    const std::optional<int> code = run->wait(limit);
    console_ = run->console();
    ASSERT_TRUE(code.has_value()) << "still runs after " << limit.count() << " ms";
    EXPECT_NE(*code, 0);
    EXPECT_TRUE(run->all_gone());
  }
};

TEST_F(ProcessFailures, R049ARankThatIsKilledIsNamedLastAndOnce) {
  const Run run = start(endless(kDp2Pp2));
  ASSERT_TRUE(reaches(run, 3)) << run->console();
  ASSERT_TRUE(run->signal_rank(3, SIGKILL));
  expect_failed(run, 10s);
  EXPECT_THAT(last_line(console_), HasSubstr("rank 3 of 4 was killed by SIGKILL"));
  EXPECT_THAT(last_line(console_), ContainsRegex("rank [012] says: step [0-9]+, rank 3"));
  EXPECT_EQ(count_of("brigade: ", console_), 1);
}

TEST_F(ProcessFailures, ARankThatIsKilledBeforeItMeetsTheOthersIsNamedToo) {
  const Run run = start(endless(kDp2Pp2));
  ASSERT_TRUE(testing::comes_true([&] { return run->rank(1) > 0; }));
  ASSERT_TRUE(run->signal_rank(1, SIGKILL));
  expect_failed(run, 10s);
  EXPECT_THAT(last_line(console_), HasSubstr("rank 1 of 4 was killed by SIGKILL"));
}

TEST_F(ProcessFailures, R049TheFirstRankCanBeTheOneThatIsKilled) {
  const Run run = start(endless(kDp2Pp2));
  ASSERT_TRUE(reaches(run, 3)) << run->console();
  ASSERT_TRUE(run->signal_rank(0, SIGKILL));
  expect_failed(run, 10s);
  EXPECT_THAT(last_line(console_), HasSubstr("rank 0 of 4 was killed by SIGKILL"));
  EXPECT_EQ(count_of("brigade: ", console_), 1);
}

TEST_F(ProcessFailures, R049ARankThatStallsIsNamedAfterTheTimeout) {
  Settings settings = endless(kDp2Pp2);
  settings.emplace_back("comm.train_timeout_seconds=2");
  const Run run = start(settings);
  ASSERT_TRUE(reaches(run, 3)) << run->console();
  ASSERT_TRUE(run->signal_rank(2, SIGSTOP));
  expect_failed(run, 2s + 5s);
  // Others wait for those who wait for rank 2. Whose deadline ends first is chance; when it is one
  // of theirs, the silent rank stands beside the one that was waited for.
  EXPECT_THAT(last_line(console_),
              AllOf(HasSubstr("brigade: rank 2 of 4 "),
                    ContainsRegex("rank [013] says: step [0-9]+, .*(for rank 2 |rank 2 has been "
                                  "silent for)")));
  EXPECT_EQ(count_of("brigade: ", console_), 1);
}

TEST_F(ProcessFailures, R049UnderAForeignLauncherEveryRankNamesTheKilledOne) {
  const int port = free_port();
  std::vector<Run> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    Settings settings =
        endless({"parallelism.data_parallel_shard_degree=3", "training.global_batch_size=12"});
    ranks.push_back(start_rank(rank, 3, port, settings));
  }
  ASSERT_TRUE(reaches(ranks[0], 3)) << ranks[0]->console();
  ASSERT_TRUE(ranks[1]->signal(SIGKILL));
  for (const int other : {0, 2}) {
    expect_failed(ranks[static_cast<size_t>(other)], 10s);
    EXPECT_THAT(last_line(console_), HasSubstr("brigade: rank 1 of 3 failed: step "));
    EXPECT_EQ(count_of("brigade: ", console_), 1);
  }
}

TEST_F(ProcessFailures, ARankThatNeverComesIsNamedAfterTheDeadline) {
  const int port = free_port();
  const Settings settings = {"parallelism.tensor_parallel_degree=4", "comm.init_timeout_seconds=2"};
  std::vector<Run> ranks;
  for (const int rank : {3, 1, 0}) {  // the host last: the others' time ends before its own
    ranks.push_back(start_rank(rank, 4, port, settings));
  }
  for (const Run& rank : ranks) {
    expect_failed(rank, 2s + 10s);
    EXPECT_THAT(console_,
                HasSubstr("brigade: rank 2 of 4 failed: rank 2 never came to 127.0.0.1:" +
                          std::to_string(port)));
    EXPECT_EQ(count_of("brigade: ", console_), 1);
  }
}

TEST_F(ProcessFailures, AHostThatNeverComesIsNamedAfterTheDeadline) {
  const int port = free_port();
  const Run rank = start_rank(
      1, 2, port, {"parallelism.tensor_parallel_degree=2", "comm.init_timeout_seconds=1"});
  expect_failed(rank, 1s + 10s);
  EXPECT_THAT(console_,
              AllOf(HasSubstr("rank 0 did not answer at 127.0.0.1:" + std::to_string(port)),
                    HasSubstr("within 1000 ms")));
}

TEST_F(ProcessFailures, APortInUseIsNamed) {
  const int port = free_port();
  const Settings settings = {"parallelism.tensor_parallel_degree=2",
                             "comm.init_timeout_seconds=20"};
  const Run holder = start_rank(0, 2, port, settings);  // listens, and waits for its rank 1
  ASSERT_TRUE(
      testing::comes_true([&] { return !testing::listening(holder->processes()).empty(); }));
  const Run late = start_rank(0, 2, port, settings);
  expect_failed(late, 10s);
  EXPECT_THAT(console_, HasSubstr("port " + std::to_string(port) + " of 127.0.0.1 is in use"));
  EXPECT_EQ(count_of("brigade: ", console_), 1);
}

TEST_F(ProcessFailures, R123ListensOnLoopbackAlone) {
  const int port = free_port();
  const Settings settings = {"parallelism.data_parallel_shard_degree=3",
                             "training.global_batch_size=12"};
  std::vector<Run> ranks;
  ranks.push_back(start_rank(0, 3, port, settings));
  ranks.push_back(start_rank(1, 3, port, settings));
  // Rank 2 is missing: rank 0 still listens for it, and so does rank 1, which told rank 0 where.
  for (const Run& rank : ranks) {
    ASSERT_TRUE(
        testing::comes_true([&] { return !testing::listening(rank->processes()).empty(); }));
    for (const std::string& address : testing::listening(rank->processes())) {
      EXPECT_EQ(address, "127.0.0.1");
    }
  }
  ranks.push_back(start_rank(2, 3, port, settings));
  for (const Run& rank : ranks) {
    EXPECT_EQ(rank->wait(40s), 0) << rank->console();
  }
}

TEST_F(ProcessFailures, R123NobodyListensOnceAllHaveMet) {
  const Run run = start(endless(kDp2Pp2));
  ASSERT_TRUE(reaches(run, 3)) << run->console();
  EXPECT_EQ(run->processes().size(), 5U);
  EXPECT_THAT(testing::listening(run->processes()), ::testing::IsEmpty());
}

TEST_F(ProcessFailures, R062ALossThatIsNotFiniteStopsAllRanksAndNamesStepRankAndTensor) {
  Settings settings = kDp2Pp2;
  settings.insert(settings.end(),
                  {"optimizer.name=SGD", "optimizer.lr=1e30", "lr_scheduler.warmup_steps=0"});
  EXPECT_EQ(train(settings), 1);
  EXPECT_THAT(last_line(console_),
              MatchesRegex("brigade: rank [0-3] of 4 failed: step 2: not finite: (loss|gradient of "
                           "model[^ ]*) on rank [0-3]; nothing was updated.*"));
  EXPECT_EQ(count_of("brigade: ", console_), 1);
  EXPECT_EQ(records().size(), 1U);
}

TEST_F(ProcessFailures, R062SkippingGoesOnUntilTooManyWereSkippedInARow) {
  Settings settings = kDp2Pp2;
  settings.insert(settings.end(),
                  {"optimizer.name=SGD",
                   "optimizer.lr=1e30",
                   "lr_scheduler.warmup_steps=0",
                   "training.on_nonfinite=skip",
                   "training.max_consecutive_skips=2"});
  EXPECT_EQ(train(settings), 1);
  EXPECT_THAT(last_line(console_),
              AllOf(HasSubstr(" failed: step 4: not finite: "),
                    HasSubstr("3 steps in a row were skipped, training.max_consecutive_skips = "
                              "2")));
  const std::vector<nlohmann::json> steps = records();
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0]["skipped"], false);
  EXPECT_EQ(steps[1]["skipped"], true);
  EXPECT_EQ(steps[2]["skipped"], true);
}

}  // namespace
}  // namespace brigade::end_to_end
