// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/tree_keeper.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace brigade::study {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kCannotRun = 127;
/// For what a program leaves that is about to end by itself.
constexpr milliseconds kLeaving{300};
/// For what cannot even be killed.
constexpr milliseconds kGiveUp{10000};
constexpr milliseconds kTick{50};

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) {
    sigaddset(&set, number);
  }
  return set;
}

[[noreturn]] void become_program(const KeeperOrders& orders, pid_t keeper) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != keeper) {
    _exit(kCannotRun);
  }
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(orders.out, STDOUT_FILENO);
  dup2(orders.err, STDERR_FILENO);
  execvp(orders.argv[0], orders.argv);
  const std::string text =
      std::string(orders.argv[0]) + " cannot be run: " + std::strerror(errno) + '\n';
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
  _exit(kCannotRun);
}

/// The parent of a process; 0 when it is gone.
pid_t parent_of(const std::string& pid) {
  std::ifstream in("/proc/" + pid + "/stat");
  std::string text;
  std::getline(in, text, '\0');
  // "17 (a name, with anything in it) S 12 ..."
  const size_t name_end = text.rfind(')');
  constexpr size_t kToParent = 4;
  return name_end == std::string::npos || name_end + kToParent > text.size()
             ? 0
             : std::atoi(text.c_str() + name_end + kToParent);
}

/// Those that are not reaped yet, so that their ids are theirs.
std::vector<pid_t> own_children() {
  std::vector<pid_t> out;
  const pid_t self = getpid();
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.find_first_not_of("0123456789") == std::string::npos && parent_of(name) == self) {
      out.push_back(std::atoi(name.c_str()));
    }
  }
  return out;
}

class Keeper {
 public:
  Keeper(const KeeperOrders& orders, pid_t program) : orders_(orders), program_(program) {}

  TreeReport run() {
    const sigset_t watched = watched_signals();
    while (true) {
      const timespec tick = {0, std::chrono::nanoseconds(kTick).count()};
      const int number = sigtimedwait(&watched, nullptr, &tick);
      if (number > 0 && number != SIGCHLD) {
        wish_to_end();
      }
      if (!reap()) {
        return report_;  // no child is left
      }
      if (kill_at_ && Clock::now() >= *kill_at_) {
        kill_children();
        if (Clock::now() >= *kill_at_ + kGiveUp) {
          return report_;
        }
      }
    }
  }

 private:
  void wish_to_end() {
    const Clock::time_point now = Clock::now();
    const bool again = asked_;
    asked_ = true;
    kill_at_ = again ? now : now + orders_.grace;
    if (running_) {
      // Its id is that of its group as long as it is not reaped.
      kill(-program_, SIGTERM);
      kill(-program_, SIGCONT);
    }
  }

  /// False when there is nothing to wait for any longer.
  bool reap() {
    while (true) {
      int status = 0;
      const pid_t pid = waitpid(-1, &status, WNOHANG);
      if (pid == 0 || (pid < 0 && errno == EINTR)) {
        return true;
      }
      if (pid < 0) {
        return false;
      }
      if (pid == program_) {
        report_.status = status;
        running_ = false;
        kill_at_ = Clock::now() + kLeaving;
      }
    }
  }

  /// Their children become ours, for the next tick.
  void kill_children() {
    if (running_) {
      kill(-program_, SIGKILL);
    }
    for (const pid_t child : own_children()) {
      report_.orphans = report_.orphans || child != program_;
      kill(child, SIGKILL);
    }
  }

  const KeeperOrders& orders_;
  pid_t program_;
  bool running_ = true;
  bool asked_ = false;
  std::optional<Clock::time_point> kill_at_;
  TreeReport report_;
};

}  // namespace

void keep_tree(const KeeperOrders& orders) {
  const sigset_t watched = watched_signals();
  sigprocmask(SIG_BLOCK, &watched, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != orders.parent) {
    _exit(kCannotRun);
  }
  setpgid(0, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t keeper = getpid();
  const pid_t program = fork();
  if (program == 0) {
    become_program(orders, keeper);
  }
  setpgid(program, program);     // also done there: whoever is first
  signal(SIGPIPE, SIG_IGN);      // nobody may be there to read the report
  constexpr int kCodeShift = 8;  // how a status of waitpid() holds an exit code
  TreeReport report = {.status = kCannotRun << kCodeShift, .orphans = false};
  if (program > 0) {
    report = Keeper(orders, program).run();
  }
  [[maybe_unused]] const ssize_t ignored = write(orders.report, &report, sizeof(report));
  _exit(0);
}

}  // namespace brigade::study
