// SPDX-License-Identifier: Apache-2.0
#include "tests/support/command_run.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include "tests/support/signal_process.h"

namespace brigade::testing {
namespace {

constexpr char kMark[] = "BRIGADE_TEST_MARK";

/// What would make the program believe that a launcher started it.
const std::set<std::string> kLauncherVariables = {
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
};

std::vector<std::string> environment_of(const CommandOptions& options, const std::string& mark) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    if (!kLauncherVariables.contains(name) && !options.environment.contains(name)) {
      entries.push_back(text);
    }
  }
  for (const auto& [name, value] : options.environment) {
    entries.push_back(name + "=" + value);
  }
  entries.push_back(mark);
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) {
    out.push_back(text.data());
  }
  out.push_back(nullptr);
  return out;
}

/// Between fork and exec: async-signal-safe calls alone.
[[noreturn]] void become(char* const* arguments, char* const* environment, const char* console) {
  setpgid(0, 0);
  const int out = open(console, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  const int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  execve(arguments[0], arguments, environment);
  constexpr int kNotFound = 127;
  _exit(kNotFound);
}

/// The environment that a process was started with; empty for zombies and for what is gone.
std::set<std::string> environment_of(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  std::set<std::string> entries;
  for (std::string entry; std::getline(in, entry, '\0');) {
    entries.insert(std::move(entry));
  }
  return entries;
}

}  // namespace

bool comes_true(const std::function<bool()>& condition, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

CommandRun::CommandRun(CommandOptions options) : options_(std::move(options)) {
  static int count = 0;
  mark_ = std::string(kMark) + "=" + std::to_string(getpid()) + "_" + std::to_string(++count);
  std::vector<std::string> environment = environment_of(options_, mark_);
  const std::vector<char*> argv = pointers(options_.command);
  const std::vector<char*> envp = pointers(environment);
  pid_ = fork();
  if (pid_ == 0) {
    become(argv.data(), envp.data(), options_.console.c_str());
  }
  if (pid_ < 0) {
    throw std::system_error(errno, std::generic_category(), "fork");
  }
}

CommandRun::~CommandRun() {
  for (const pid_t pid : processes()) {
    testing::signal_process(pid, SIGKILL);
  }
  if (!code_) {
    testing::signal_process(pid_, SIGKILL);  // it may not have come to its mark yet
    reap(0);
  }
}

void CommandRun::reap(int options) {
  int status = 0;
  if (!code_ && waitpid(pid_, &status, options) == pid_) {
    constexpr int kSignalBase = 128;
    code_ = WIFSIGNALED(status) ? kSignalBase + WTERMSIG(status) : WEXITSTATUS(status);
  }
}

std::optional<int> CommandRun::wait(std::chrono::milliseconds limit) {
  comes_true(
      [this] {
        reap(WNOHANG);
        return code_.has_value();
      },
      limit);
  return code_;
}

std::string CommandRun::console() const {
  std::ostringstream text;
  text << std::ifstream(options_.console).rdbuf();
  return text.str();
}

std::vector<pid_t> CommandRun::processes() const {
  std::vector<pid_t> found;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    const std::string name = entry.path().filename();
    pid_t pid = -1;
    const auto end = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (end.ec == std::errc() && environment_of(pid).contains(mark_)) {
      found.push_back(pid);
    }
  }
  return found;
}

pid_t CommandRun::rank(int rank) const {
  const std::string wanted = "RANK=" + std::to_string(rank);
  const std::vector<pid_t> all = processes();
  const auto found =
      std::ranges::find_if(all, [&](pid_t pid) { return environment_of(pid).contains(wanted); });
  return found == all.end() ? -1 : *found;
}

bool CommandRun::all_gone() const {
  return comes_true([this] { return processes().empty(); }, std::chrono::seconds(5));
}

}  // namespace brigade::testing
