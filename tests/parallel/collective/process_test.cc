// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes, over TCP: killed, stopped, absent. Only children of this test are
// signalled.
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/check.h"
#include "parallel/collective/world.h"
#include "tests/support/rank_threads.h"
#include "tests/support/signal_process.h"

namespace brigade::collective {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

/// Child processes that run one rank each and report one line when they end.
class RankProcesses {
 public:
  RankProcesses(int64_t size, milliseconds timeout) : port_(testing::free_port()) {
    for (int64_t rank = 0; rank < size; ++rank) {
      int pipe_ends[2] = {};
      BRIGADE_CHECK(pipe(pipe_ends) == 0);
      const pid_t child = fork();
      if (child == 0) {
        ::close(pipe_ends[0]);
        const std::string line = run_rank(rank, size, timeout);
        const ssize_t written = write(pipe_ends[1], line.data(), line.size());
        _exit(written == static_cast<ssize_t>(line.size()) ? 0 : 1);
      }
      ::close(pipe_ends[1]);
      children_.push_back(child);
      outputs_.push_back(pipe_ends[0]);
    }
  }

  ~RankProcesses() {
    for (size_t i = 0; i < children_.size(); ++i) {
      testing::signal_process(children_[i], SIGKILL);
      waitpid(children_[i], nullptr, 0);
      ::close(outputs_[i]);
    }
  }

  void signal(size_t rank, int number) { testing::signal_process(children_[rank], number); }

  /// What the rank said, at the end of its life.
  std::string line(size_t rank) {
    std::string text;
    char buffer[512];
    for (ssize_t n = 0; (n = read(outputs_[rank], buffer, sizeof(buffer))) > 0;) {
      text.append(buffer, static_cast<size_t>(n));
    }
    return text;
  }

 private:
  /// All-reduces for ever; returns "code origin text" of what ended it.
  std::string run_rank(int64_t rank, int64_t size, milliseconds timeout) const {
    ConnectOptions options;
    options.rank = rank;
    options.size = size;
    options.master_port = port_;
    options.init_timeout = milliseconds(10000);
    options.timeout = timeout;
    Result<std::unique_ptr<World>> world = connect(options);
    if (!world) {
      return "connect: " + world.error().text;
    }
    std::vector<int64_t> members(static_cast<size_t>(size));
    for (size_t i = 0; i < members.size(); ++i) {
      members[i] = static_cast<int64_t>(i);
    }
    auto group = (*world)->group(members, "all");
    std::vector<float> values(1'000'000, 0.0F);
    const Clock::time_point end = Clock::now() + std::chrono::seconds(30);
    while (Clock::now() < end) {
      const Result<void> done =
          group->all_reduce({bytes_of(std::span(values))}, DType::kFloat32, ReduceOp::kSum).wait();
      if (!done) {
        const std::string line = std::string(to_string(done.error().code)) + " " +
                                 std::to_string(done.error().origin_rank) + " " + done.error().text;
        (*world)->close();
        return line;
      }
    }
    return "nothing happened";
  }

  uint16_t port_;
  std::vector<pid_t> children_;
  std::vector<int> outputs_;
};

TEST(RankProcesses, NameTheOneThatWasKilled) {
  RankProcesses ranks(3, milliseconds(20000));
  std::this_thread::sleep_for(milliseconds(1000));
  const Clock::time_point killed = Clock::now();
  ranks.signal(1, SIGKILL);
  EXPECT_THAT(ranks.line(0), HasSubstr("PeerLost 1 rank 1 died"));
  EXPECT_THAT(ranks.line(2), HasSubstr("PeerLost 1 rank 1 died"));
  EXPECT_LT(Clock::now() - killed, std::chrono::seconds(10));
}

TEST(RankProcesses, NameTheOneThatWasStopped) {
  RankProcesses ranks(3, milliseconds(2500));
  std::this_thread::sleep_for(milliseconds(1000));
  const Clock::time_point stopped = Clock::now();
  ranks.signal(2, SIGSTOP);
  EXPECT_THAT(ranks.line(0), HasSubstr("Timeout 2 "));
  EXPECT_THAT(ranks.line(1), HasSubstr("has been silent for"));
  EXPECT_LT(Clock::now() - stopped, std::chrono::seconds(10));
}

TEST(Connect, NamesTheRanksThatNeverCame) {
  ConnectOptions options;
  options.size = 4;
  options.master_port = testing::free_port();
  options.init_timeout = milliseconds(1000);
  Error joined;
  std::thread second([&] {
    ConnectOptions mine = options;
    mine.rank = 2;
    joined = connect(mine).error();
  });
  std::this_thread::sleep_for(milliseconds(500));  // the other's time ends before this one's
  const auto world = connect(options);
  second.join();
  ASSERT_FALSE(world);
  EXPECT_EQ(world.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(world.error().text, HasSubstr("rank 1, rank 3 never came to 127.0.0.1:"));
  EXPECT_EQ(joined.text, world.error().text);
  EXPECT_EQ(joined.origin_rank, 1);
}

TEST(Connect, SaysWhichPortIsInUse) {
  ConnectOptions options;
  options.size = 2;
  options.master_port = testing::free_port();
  options.init_timeout = milliseconds(3000);
  std::thread first([&] { EXPECT_FALSE(connect(options)); });
  std::this_thread::sleep_for(milliseconds(500));
  const auto world = connect(options);
  first.join();
  ASSERT_FALSE(world);
  EXPECT_EQ(world.error().code, ErrorCode::kIo);
  EXPECT_THAT(world.error().text,
              HasSubstr("port " + std::to_string(options.master_port) + " of 127.0.0.1 is in use"));
}

TEST(Connect, RefusesARankOfAnotherWorldSize) {
  ConnectOptions options;
  options.size = 2;
  options.master_port = testing::free_port();
  options.init_timeout = milliseconds(2000);
  std::thread host([&] { EXPECT_FALSE(connect(options)); });
  ConnectOptions other = options;
  other.rank = 1;
  other.size = 3;
  const auto world = connect(other);
  host.join();
  ASSERT_FALSE(world);
  EXPECT_THAT(world.error().text, HasSubstr("was started for a world of 3, rank 0 for one of 2"));
}

TEST(Connect, MeetsTwiceOnOnePortWithoutAPause) {
  ConnectOptions options;
  options.size = 3;
  options.master_port = testing::free_port();
  options.init_timeout = milliseconds(10000);
  for (int round = 0; round < 3; ++round) {
    testing::run_ranks_over(
        3,
        [&](int64_t rank) {
          ConnectOptions mine = options;
          mine.rank = rank;
          return value_or_throw(connect(mine));
        },
        [](World& world) {
          EXPECT_TRUE(world.group({0, 1, 2}, "all")->barrier().wait());
        });
  }
}

/// Local addresses of listening sockets of this machine, as /proc writes them.
std::vector<std::string> listeners(const char* table) {
  std::vector<std::string> found;
  std::ifstream file(table);
  std::string slot;
  std::string local;
  std::string remote;
  std::string state;
  std::string rest;
  std::getline(file, rest);
  while (file >> slot >> local >> remote >> state && std::getline(file, rest)) {
    if (state == "0A") {
      found.push_back(local);
    }
  }
  return found;
}

TEST(Connect, ListensOnLoopbackOnlyWhenTheMasterIsThere) {
  ConnectOptions options;
  options.size = 2;
  options.master_port = testing::free_port();
  options.init_timeout = milliseconds(1500);
  std::thread host([&] { EXPECT_FALSE(connect(options)); });
  std::this_thread::sleep_for(milliseconds(500));
  char port[8];
  std::snprintf(port, sizeof(port), ":%04X", options.master_port);
  std::vector<std::string> ours;
  for (const std::string& address : listeners("/proc/net/tcp")) {
    if (address.ends_with(port)) {
      ours.push_back(address);
    }
  }
  for (const std::string& address : listeners("/proc/net/tcp6")) {
    EXPECT_FALSE(address.ends_with(port)) << address;
  }
  host.join();
  EXPECT_THAT(ours, ::testing::ElementsAre(std::string("0100007F") + port));
}

}  // namespace
}  // namespace brigade::collective
