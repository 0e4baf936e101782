// SPDX-License-Identifier: Apache-2.0
#include "trainer/launch/rank_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "parallel/base/text.h"
#include "trainer/launch/exit_code.h"
#include "trainer/launch/rank_identity.h"

namespace brigade::launch {
namespace {

/// argv or envp: the pointers that exec wants, made before fork since the child may not allocate.
class CharPointers {
 public:
  explicit CharPointers(std::vector<std::string> texts) : texts_(std::move(texts)) {
    for (std::string& text : texts_) {
      pointers_.push_back(text.data());
    }
    pointers_.push_back(nullptr);
  }
  char* const* get() const { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

std::vector<std::string> environment_for(const RankCommand& command, int report_fd) {
  Environment variables = current_environment();
  variables["RANK"] = std::to_string(command.rank);
  variables["WORLD_SIZE"] = std::to_string(command.world_size);
  variables["LOCAL_RANK"] = std::to_string(command.rank);
  variables["LOCAL_WORLD_SIZE"] = std::to_string(command.world_size);
  variables["MASTER_ADDR"] = "127.0.0.1";
  variables["MASTER_PORT"] = std::to_string(command.master_port);
  variables[kReportVariable] = std::to_string(report_fd);
  variables.erase("TORCHELASTIC_USE_AGENT_STORE");
  variables.erase("BRIGADE_MASTER_ADDR");
  variables.erase("BRIGADE_MASTER_PORT");
  std::vector<std::string> entries;
  for (const auto& [name, value] : variables) {
    entries.push_back(concat(name, '=', value));
  }
  return entries;
}

/// Everything between fork and exec; async-signal-safe calls alone.
[[noreturn]] void become_rank(const char* executable,
                              char* const* arguments,
                              char* const* environment,
                              const char* log_path,
                              int log_flags,
                              pid_t launcher,
                              const char* failure_head) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != launcher) {
    _exit(kExitFailed);  // the launcher died before the line above
  }
  // A group of its own: a terminal's Ctrl-C reaches the launcher alone, which passes it on once.
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (log_path != nullptr) {
    int log = open(log_path, log_flags, 0644);
    if (log < 0) {
      log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    }
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
  }
  execve(executable, arguments, environment);
  [[maybe_unused]] const ssize_t ignored =
      write(STDERR_FILENO, failure_head, std::strlen(failure_head));
  _exit(kExitFailed);
}

}  // namespace

Result<RankProcess> RankProcess::start(const RankCommand& command) {
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return fail(ErrorCode::kIo,
                concat("no pipe for rank ", command.rank, ": ", std::strerror(errno)));
  }
  const CharPointers arguments(command.arguments);
  const CharPointers environment(environment_for(command, ends[1]));
  const std::string failure_head = concat("could not run ", command.executable, '\n');
  const char* log_path = command.log_path.empty() ? nullptr : command.log_path.c_str();
  const int log_flags =
      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (command.append_log ? 0 : O_TRUNC);
  const pid_t launcher = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    fcntl(ends[1], F_SETFD, 0);
    become_rank(command.executable.c_str(),
                arguments.get(),
                environment.get(),
                log_path,
                log_flags,
                launcher,
                failure_head.c_str());
  }
  const int fork_error = errno;
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return fail(ErrorCode::kIo,
                concat("no process for rank ", command.rank, ": ", std::strerror(fork_error)));
  }
  return RankProcess(command.rank, pid, ends[0]);
}

RankProcess::RankProcess(RankProcess&& other) noexcept
    : rank_(other.rank_),
      pid_(other.pid_),
      report_fd_(std::exchange(other.report_fd_, -1)),
      running_(std::exchange(other.running_, false)),
      code_(other.code_),
      signal_(other.signal_),
      reported_(std::move(other.reported_)) {}

RankProcess::~RankProcess() {
  if (running_) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (report_fd_ >= 0) {
    close(report_fd_);
  }
}

void RankProcess::signal(int number) const {
  if (running_) {
    kill(pid_, number);
    kill(pid_, SIGCONT);  // a stopped rank acts on no signal but SIGKILL
  }
}

bool RankProcess::reap() {
  int status = 0;
  if (!running_ || waitpid(pid_, &status, WNOHANG) != pid_) {
    return false;
  }
  running_ = false;
  if (WIFSIGNALED(status)) {
    signal_ = WTERMSIG(status);
    code_ = kExitSignalBase + signal_;
  } else {
    code_ = WEXITSTATUS(status);
  }
  drain();
  return true;
}

void RankProcess::drain() {
  std::array<char, 4096> buffer = {};
  ssize_t count = 0;
  while (report_fd_ >= 0 && (count = read(report_fd_, buffer.data(), buffer.size())) > 0) {
    reported_.append(buffer.data(), static_cast<size_t>(count));
  }
  if (report_fd_ >= 0 && count == 0) {
    close(report_fd_);
    report_fd_ = -1;
  }
}

}  // namespace brigade::launch
