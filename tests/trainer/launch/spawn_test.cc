// SPDX-License-Identifier: Apache-2.0
// The test program plays the ranks itself: with BRIGADE_TEST_ROLE set, the object kPlayer below
// acts and exits before main.
#include "trainer/launch/spawn.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/launch/failure_report.h"
#include "trainer/launch/rank_identity.h"

namespace brigade::launch {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRole[] = "BRIGADE_TEST_ROLE";
constexpr char kRankRole[] = "BRIGADE_TEST_RANK_ROLE";
constexpr char kFolder[] = "BRIGADE_TEST_FOLDER";
constexpr int kOrigin = 1;

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

SpawnOptions quick(const std::string& folder) {
  SpawnOptions options;
  options.log_folder = folder;
  options.report_grace = 300ms;
  options.terminate_grace = 300ms;
  options.interrupt_grace = 500ms;
  return options;
}

// ---- what a rank does ----

/// Longer than any test waits, so that only a signal ends it in time.
[[noreturn]] void hang() {
  std::this_thread::sleep_for(50s);
  _exit(9);
}

void ignore_signals() {
  std::signal(SIGTERM, SIG_IGN);
  std::signal(SIGINT, SIG_IGN);
}

/// Tells the test that this rank runs, and by which pid.
void sign_in(int rank) {
  const std::string path = variable(kFolder) + "/pid_" + std::to_string(rank);
  std::ofstream(path + ".new") << getpid();
  std::filesystem::rename(path + ".new", path);
}

void report_and_exit(const Failure& failure, int code) {
  report_failure(failure);
  _exit(code);
}

using Roles = std::map<std::string, std::function<void()>>;

/// Ranks of which kOrigin fails on its own account.
Roles failing_roles(bool origin) {
  return {
      {"fail",
       [=] {
         origin ? report_and_exit({-1, 1, "the loss is NaN at step 3"}, 1) : hang();
       }},
      {"fail_and_report",
       [=] {
         if (!origin) {
           std::this_thread::sleep_for(50ms);
         }
         report_and_exit({kOrigin, 2, origin ? "first" : "second hand"}, 2);
       }},
      {"fail_deaf",
       [=] {
         ignore_signals();
         origin ? report_and_exit({-1, 1, "deaf"}, 1) : hang();
       }},
      {"report_and_hang",
       [=] {
         ignore_signals();
         if (origin) {
           report_failure({-1, 1, "stuck on my way out"});
         }
         hang();
       }},
      {"crash",
       [=] {
         if (origin) {
           std::cerr << "terminate called\nboom" << std::endl;
           _exit(3);
         }
         hang();
       }},
  };
}

/// Ranks of which kOrigin cannot speak, and those that do not fail.
Roles other_roles(const RankIdentity& who) {
  const bool origin = who.rank == kOrigin;
  return {
      {"done", [] {}},
      {"early", [] { _exit(75); }},
      {"tell",
       [=] {
         std::cout << who.rank << '/' << who.world_size << ' ' << who.master_address << ' '
                   << (who.master_port > 0) << ' ' << who.told_by << std::endl;
       }},
      {"killed",
       [=] {
         if (origin) {
           raise(SIGKILL);
         }
         std::this_thread::sleep_for(100ms);
         report_and_exit({kOrigin, 1, "rank 1 hung up"}, 1);
       }},
      {"stalled",
       [=] {
         origin ? hang() : report_and_exit({kOrigin, 1, "waited in vain for rank 1"}, 1);
       }},
      {"stopped",
       [=] {
         if (origin) {
           raise(SIGSTOP);
         }
         report_and_exit({kOrigin, 1, "waited in vain for rank 1"}, 1);
       }},
      {"hang",
       [=] {
         sign_in(who.rank);
         hang();
       }},
      {"hang_deaf",
       [=] {
         ignore_signals();
         sign_in(who.rank);
         hang();
       }},
  };
}

int play(const std::string& role) {
  if (role == "launcher") {
    setenv(kRole, variable(kRankRole).c_str(), 1);
    return spawn(3, {"player"}, quick(variable(kFolder)));
  }
  const RankIdentity who = value_or_throw(identify(current_environment()));
  Roles roles = failing_roles(who.rank == kOrigin);
  roles.merge(other_roles(who));
  roles.at(role)();
  return 0;
}

const bool kPlayer = [] {
  const std::string role = variable(kRole);
  if (!role.empty()) {
    _exit(play(role));
  }
  return false;
}();

// ---- the tests ----

class Spawn : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "spawn_" + std::to_string(getpid());
    std::filesystem::create_directories(folder_);
    setenv(kFolder, folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv(kRole);
    std::filesystem::remove_all(folder_);
  }

  /// Spawns three ranks that play `role`; what the launcher prints is in console().
  int run(const std::string& role) {
    setenv(kRole, role.c_str(), 1);
    SpawnOptions options = quick(folder_);
    options.console = &console_;
    const int code = spawn(3, {"player"}, options);
    unsetenv(kRole);
    return code;
  }

  std::string console() const { return console_.str(); }

  std::string log(int rank) const {
    std::ostringstream text;
    text << std::ifstream(folder_ + "/rank_" + std::to_string(rank) + ".log").rdbuf();
    return text.str();
  }

  /// A launcher process over three ranks that play `role`; returns when all of them run.
  void start_launcher(const std::string& role) {
    std::cout.flush();
    launcher_ = fork();
    if (launcher_ == 0) {
      setenv(kRole, "launcher", 1);
      setenv(kRankRole, role.c_str(), 1);
      execl("/proc/self/exe", "launcher", nullptr);
      _exit(99);
    }
    for (int rank = 0; rank < 3; ++rank) {
      const std::string path = folder_ + "/pid_" + std::to_string(rank);
      ASSERT_TRUE(comes_true([&] { return std::filesystem::exists(path); }));
      pid_t pid = 0;
      std::ifstream(path) >> pid;
      ASSERT_GT(pid, 0);
      pids_.push_back(pid);
    }
  }

  /// The launcher's exit code, 128 + signal, or -1 when it does not end.
  int launcher_code() {
    int status = 0;
    if (!comes_true([&] { return waitpid(launcher_, &status, WNOHANG) == launcher_; })) {
      kill(launcher_, SIGKILL);
      waitpid(launcher_, &status, 0);
      return -1;
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  bool ranks_are_gone() {
    return comes_true([&] {
      for (const pid_t pid : pids_) {
        if (lives(pid)) {
          return false;
        }
      }
      return true;
    });
  }

  static bool comes_true(const std::function<bool()>& condition) {
    const auto limit = std::chrono::steady_clock::now() + 20s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > limit) {
        return false;
      }
      std::this_thread::sleep_for(5ms);
    }
    return true;
  }

  /// Not gone, and not merely waiting for whoever inherited it to take its exit code.
  static bool lives(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string number;
    std::string name;
    std::string state;
    return (stat >> number >> name >> state) && state != "Z" && state != "X";
  }

  std::string folder_;
  std::ostringstream console_;
  pid_t launcher_ = -1;
  std::vector<pid_t> pids_;
};

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
  setenv(kRole, "stopped", 1);
  SpawnOptions options = quick(folder_);
  options.console = &console_;
  options.terminate_grace = 30s;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(spawn(3, {"player"}, options), 1);
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
  EXPECT_EQ(spawn(2, {"player"}, options), 1);
  EXPECT_THAT(console(), HasSubstr("ended with exit code 1 and no report"));
  EXPECT_THAT(log(1), HasSubstr("could not run /no/such/program"));
}

TEST_F(Spawn, GoesOnWithoutLogsWhenTheyCannotBeWritten) {
  setenv(kRole, "done", 1);
  SpawnOptions options = quick("/no/such/folder");
  options.console = &console_;
  EXPECT_EQ(spawn(3, {"player"}, options), 0);
}

TEST_F(Spawn, R051PassesOnAnInterruptAndLeavesNobody) {
  start_launcher("hang");
  kill(launcher_, SIGINT);
  EXPECT_EQ(launcher_code(), 130);
  EXPECT_TRUE(ranks_are_gone());
}

TEST_F(Spawn, R051PassesOnATerminationAndKillsTheDeaf) {
  start_launcher("hang_deaf");
  kill(launcher_, SIGTERM);
  EXPECT_EQ(launcher_code(), 143);
  EXPECT_TRUE(ranks_are_gone());
}

TEST_F(Spawn, R051KillsAtTheSecondInterrupt) {
  start_launcher("hang_deaf");
  kill(launcher_, SIGINT);
  kill(launcher_, SIGINT);  // may arrive as one; then the grace ends it
  EXPECT_EQ(launcher_code(), 130);
  EXPECT_TRUE(ranks_are_gone());
}

TEST_F(Spawn, R051RanksDieWithAKilledLauncher) {
  start_launcher("hang_deaf");
  kill(launcher_, SIGKILL);
  EXPECT_EQ(launcher_code(), 128 + SIGKILL);
  EXPECT_TRUE(ranks_are_gone());
}

TEST_F(Spawn, R051TheSamePortServesTheNextRun) {
  const Result<int> port = free_loopback_port();
  ASSERT_TRUE(port);
  setenv(kRole, "tell", 1);
  SpawnOptions options = quick(folder_);
  options.port = *port;
  EXPECT_EQ(spawn(2, {"player"}, options), 0);
  EXPECT_EQ(spawn(2, {"player"}, options), 0);
}

}  // namespace
}  // namespace brigade::launch
