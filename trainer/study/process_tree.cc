// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/process_tree.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "trainer/study/tree_keeper.h"

namespace brigade::study {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kPollMs = 100;
/// Beyond grace, for a keeper whose tree cannot even be killed.
constexpr std::chrono::seconds kGiveUp{20};

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return number_; }
  void reset() {
    if (number_ >= 0) {
      close(std::exchange(number_, -1));
    }
  }

 private:
  int number_;
};

int create(const std::string& path, int more_flags) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | more_flags, 0666);
}

/// Waits for the keeper, and tells it when the time has come.
class Watch {
 public:
  Watch(const TreeCommand& command, const std::function<bool()>& stop, pid_t keeper, int report)
      : command_(command), stop_(stop), keeper_(keeper), report_(report) {}

  TreeEnd run() {
    TreeReport report;
    while (!read_report(report)) {
      look();
    }
    int status = 0;
    while (waitpid(keeper_, &status, 0) < 0 && errno == EINTR) {
    }
    end_.seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    end_.orphans = report.orphans;
    if (WIFSIGNALED(report.status)) {
      end_.signal = WTERMSIG(report.status);
    } else {
      end_.code = WEXITSTATUS(report.status);
    }
    return end_;
  }

 private:
  /// True when it is there, or will never be.
  bool read_report(TreeReport& report) {
    pollfd watched = {report_, POLLIN, 0};
    if (poll(&watched, 1, kPollMs) <= 0) {
      return false;
    }
    const ssize_t count = read(report_, &report, sizeof(report));
    if (count != static_cast<ssize_t>(sizeof(report))) {
      report = {.status = SIGKILL,
                .orphans = false};  // the keeper was killed, and its tree with it
    }
    return true;
  }

  void look() {
    const Clock::time_point now = Clock::now();
    if (end_.how == TreeEnd::How::kEnded) {
      if (stop_ && stop_()) {
        tell(TreeEnd::How::kStopped);
      } else if (now - began_ >= command_.timeout) {
        tell(TreeEnd::How::kTimedOut);
      }
    } else if (now - told_ >= command_.grace + kGiveUp) {
      kill(keeper_, SIGKILL);
    }
  }

  void tell(TreeEnd::How how) {
    end_.how = how;
    told_ = Clock::now();
    kill(keeper_, SIGTERM);
  }

  const TreeCommand& command_;
  const std::function<bool()>& stop_;
  pid_t keeper_;
  int report_;
  Clock::time_point began_ = Clock::now();
  Clock::time_point told_ = {};
  TreeEnd end_ = {};
};

}  // namespace

Result<TreeEnd> run_tree(const TreeCommand& command, const std::function<bool()>& stop) {
  BRIGADE_CHECK(!command.argv.empty() && command.timeout > milliseconds(0));
  const Descriptor out(create(command.out_path, O_TRUNC));
  const Descriptor err(
      create(command.err_path, command.err_path == command.out_path ? 0 : O_TRUNC));
  if (out.get() < 0 || err.get() < 0) {
    return fail(ErrorCode::kIo,
                concat("the output of a run cannot be written: ",
                       std::strerror(errno),
                       ": ",
                       out.get() < 0 ? command.out_path : command.err_path));
  }
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(ErrorCode::kIo, concat("no pipe for a run: ", std::strerror(errno)));
  }
  const Descriptor report(ends[0]);
  Descriptor to_report(ends[1]);
  std::vector<std::string> texts = command.argv;
  std::vector<char*> argv;
  for (std::string& text : texts) {
    argv.push_back(text.data());
  }
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t keeper = fork();
  if (keeper == 0) {
    keep_tree({.argv = argv.data(),
               .out = out.get(),
               .err = err.get(),
               .report = to_report.get(),
               .parent = parent,
               .grace = command.grace});
  }
  if (keeper < 0) {
    return fail(ErrorCode::kIo, concat("no process for a run: ", std::strerror(errno)));
  }
  to_report.reset();
  return Watch(command, stop, keeper, report.get()).run();
}

std::string to_string(const TreeEnd& end) {
  const std::string seconds = concat(static_cast<int64_t>(end.seconds), " s");
  if (end.how == TreeEnd::How::kTimedOut) {
    return concat("did not end by itself and was ended after ", seconds);
  }
  if (end.how == TreeEnd::How::kStopped) {
    return concat("was stopped after ", seconds);
  }
  if (end.signal != 0) {
    const char* name = sigabbrev_np(end.signal);
    return name != nullptr ? concat("was ended by SIG", name)
                           : concat("was ended by signal ", end.signal);
  }
  return end.code == 0 ? "ended well" : concat("failed with exit code ", end.code);
}

}  // namespace brigade::study
