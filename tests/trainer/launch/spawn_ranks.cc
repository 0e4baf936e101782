// SPDX-License-Identifier: Apache-2.0
#include "tests/trainer/launch/spawn_ranks.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/support/signal_process.h"
#include "trainer/launch/failure_report.h"
#include "trainer/launch/rank_identity.h"
#include "trainer/launch/stop_signals.h"

namespace brigade::launch {
namespace {

using namespace std::chrono_literals;

constexpr char kRole[] = "BRIGADE_TEST_ROLE";
constexpr char kRankRole[] = "BRIGADE_TEST_RANK_ROLE";
constexpr char kFolder[] = "BRIGADE_TEST_FOLDER";
constexpr char kStopGrace[] = "BRIGADE_TEST_STOP_GRACE_MS";
constexpr int kOrigin = 1;

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

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

/// As a run with checkpoints: the signal is noted, the step ends, all save, longer than it takes to
/// kill a rank that was told to end.
void save_when_told(const RankIdentity& who, int code) {
  const StopSignals signals;
  sign_in(who.rank);
  while (signals.requested() == 0) {
    std::this_thread::sleep_for(5ms);
  }
  std::this_thread::sleep_for(700ms);
  _exit(code);
}

void report_and_exit(const Failure& failure, int code) {
  report_failure(failure);
  _exit(code);
}

void cannot_save(const RankIdentity& who) {
  const StopSignals signals;
  sign_in(who.rank);
  while (signals.requested() == 0) {
    std::this_thread::sleep_for(5ms);
  }
  report_and_exit({-1, 1, "no space left on the disk"}, 1);
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
      {"save_when_told", [=] { save_when_told(who, 75); }},
      {"save_for_long",
       [=] {
         const StopSignals signals;
         sign_in(who.rank);
         hang();
       }},
      {"finish_when_told", [=] { save_when_told(who, 0); }},
      {"cannot_save", [=] { origin ? cannot_save(who) : save_when_told(who, 75); }},
      {"fail_among_listeners",
       [=] {
         const StopSignals signals;
         origin ? report_and_exit({-1, 1, "the loss is NaN at step 3"}, 1) : hang();
       }},
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
    SpawnOptions options = Spawn::quick(variable(kFolder));
    options.stop_grace = std::chrono::milliseconds(std::stoi(variable(kStopGrace)));
    return spawn(3, {"player"}, options);
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

/// Not gone, and not merely waiting for whoever inherited it to take its exit code.
bool lives(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string number;
  std::string name;
  std::string state;
  return (stat >> number >> name >> state) && state != "Z" && state != "X";
}

bool comes_true(const std::function<bool()>& condition) {
  const auto limit = std::chrono::steady_clock::now() + 20s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) {
      return false;
    }
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

void Spawn::SetUp() {
  folder_ = ::testing::TempDir() + "spawn_" + std::to_string(getpid());
  std::filesystem::create_directories(folder_);
  setenv(kFolder, folder_.c_str(), 1);
}

void Spawn::TearDown() {
  unsetenv(kRole);
  std::filesystem::remove_all(folder_);
}

SpawnOptions Spawn::quick(const std::string& folder) {
  SpawnOptions options;
  options.log_folder = folder;
  options.report_grace = 300ms;
  options.terminate_grace = 300ms;
  options.interrupt_grace = 500ms;
  options.stop_grace = 500ms;
  return options;
}

int Spawn::run(const std::string& role) {
  SpawnOptions options = quick(folder_);
  options.console = &console_;
  return run(3, role, options);
}

int Spawn::run(int ranks, const std::string& role, const SpawnOptions& options) {
  setenv(kRole, role.c_str(), 1);
  const int code = spawn(ranks, {"player"}, options);
  unsetenv(kRole);
  return code;
}

std::string Spawn::log(int rank) const {
  return text_of(folder_ + "/rank_" + std::to_string(rank) + ".log");
}

void Spawn::start_launcher(const std::string& role, std::chrono::milliseconds stop_grace) {
  std::cout.flush();
  launcher_ = fork();
  if (launcher_ == 0) {
    const int console = open((folder_ + "/console").c_str(), O_WRONLY | O_CREAT, 0644);
    dup2(console, STDERR_FILENO);
    setenv(kStopGrace, std::to_string(stop_grace.count()).c_str(), 1);
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

int Spawn::launcher_code() {
  int status = 0;
  if (!comes_true([&] { return waitpid(launcher_, &status, WNOHANG) == launcher_; })) {
    testing::signal_process(launcher_, SIGKILL);
    waitpid(launcher_, &status, 0);
    return -1;
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string Spawn::launcher_console() const {
  return text_of(folder_ + "/console");
}

bool Spawn::ranks_are_gone() const {
  return comes_true([this] {
    return std::none_of(pids_.begin(), pids_.end(), [](pid_t pid) { return lives(pid); });
  });
}

void Spawn::begin_again() {
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_);
  pids_.clear();
}

}  // namespace brigade::launch
