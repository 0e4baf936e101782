// SPDX-License-Identifier: Apache-2.0
#include "tests/support/failing_disk_rules.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <fcntl.h>
#include <stdexcept>
#include <sys/syscall.h>
#include <unistd.h>

namespace brigade::testing {
namespace {

struct LiveRule {
  DiskRule rule;
  std::atomic<int64_t> seen = 0;   ///< calls that fit
  std::atomic<int64_t> taken = 0;  ///< bytes that did
};

int64_t number(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void set(DiskRule& rule, std::string_view name, std::string_view value) {
  const auto integer = static_cast<int>(number(value));
  if (name == "calls") {
    rule.calls = value;
  } else if (name == "path") {
    rule.path = value;
  } else if (name == "rank") {
    rule.rank = integer;
  } else if (name == "from") {
    rule.from = number(value);
  } else if (name == "times") {
    rule.times = number(value);
  } else if (name == "error") {
    rule.error = integer;
  } else if (name == "fits") {
    rule.fits_bytes = number(value);
  } else if (name == "delay") {
    rule.delay_ms = integer;
  } else if (name == "free") {
    rule.free_bytes = number(value);
  } else if (name == "kill") {
    rule.kill = static_cast<Kill>(integer);
  } else if (name == "throws") {
    rule.throws = integer != 0;
  } else if (name == "log") {
    rule.log = value;
  }
}

/// Cuts off the part before the next `end`.
std::string_view next(std::string_view& text, char end) {
  const size_t at = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

int own_rank() {
  const char* text = std::getenv("RANK");
  return text == nullptr ? -1 : static_cast<int>(number(text));
}

/// Those of this process. A deque, since a rule that counts cannot move.
std::deque<LiveRule>& rules() {
  static std::deque<LiveRule> all = [] {
    std::deque<LiveRule> found;
    const char* variable = std::getenv("BRIGADE_DISK_RULES");
    std::string_view text = variable == nullptr ? "" : variable;
    while (!text.empty()) {
      std::string_view line = next(text, '\n');
      DiskRule rule;
      while (!line.empty()) {
        std::string_view field = next(line, '\t');
        const std::string_view name = next(field, '=');
        set(rule, name, field);
      }
      if (rule.rank < 0 || rule.rank == own_rank()) {
        found.emplace_back().rule = std::move(rule);
      }
    }
    return found;
  }();
  return all;
}

bool names(const DiskRule& rule, std::string_view call) {
  std::string_view kinds = rule.calls;
  while (!kinds.empty()) {
    if (next(kinds, '|') == call) {
      return true;
    }
  }
  return false;
}

bool fits(const DiskRule& rule, const Attempt& attempt) {
  return names(rule, attempt.call) && attempt.path.find(rule.path) != std::string::npos;
}

void wait(int milliseconds) {
  const timespec time = {milliseconds / 1000, (milliseconds % 1000) * 1'000'000L};
  nanosleep(&time, nullptr);
}

void act(LiveRule& live, const Attempt& attempt, Verdict& verdict) {
  const DiskRule& rule = live.rule;
  if (rule.delay_ms > 0) {
    wait(rule.delay_ms);
  }
  if (rule.kill != Kill::kNobody) {
    const pid_t pid = rule.kill == Kill::kCaller ? getpid() : getppid();
    if (pid > 1) {  // a parent may be gone already
      kill(pid, SIGKILL);
    }
    wait(60'000);  // a parent's end is this process's too, in a moment
  }
  if (rule.throws) {
    throw std::runtime_error("the drill's own exception");
  }
  if (rule.free_bytes >= 0) {
    verdict.free_bytes = rule.free_bytes;
  }
  if (rule.error == 0) {
    return;
  }
  const int64_t left = rule.fits_bytes < 0 ? 0 : rule.fits_bytes - live.taken;
  if (attempt.call != "write" || left <= 0) {
    verdict.error = rule.error;
  } else {
    verdict.bytes = std::min(attempt.bytes, left);
    live.taken += *verdict.bytes;
  }
}

}  // namespace

Verdict judge(const Attempt& attempt) {
  Verdict verdict;
  for (LiveRule& live : rules()) {
    const DiskRule& rule = live.rule;
    if (!fits(rule, attempt)) {
      continue;
    }
    const int64_t count = ++live.seen;
    if (count >= rule.from && (rule.times == 0 || count < rule.from + rule.times)) {
      act(live, attempt, verdict);
    }
    if (verdict.error != 0) {
      break;
    }
  }
  return verdict;
}

void log_call(const Attempt& attempt, int64_t result) {
  for (const LiveRule& live : rules()) {
    if (live.rule.log.empty() || !fits(live.rule, attempt)) {
      continue;
    }
    const std::string line = std::to_string(own_rank()) + ' ' + std::string(attempt.call) + ' ' +
                             std::to_string(result) + ' ' + attempt.path + '\n';
    const auto file = static_cast<int>(syscall(SYS_openat,
                                               AT_FDCWD,
                                               live.rule.log.c_str(),
                                               O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                                               0644));
    syscall(SYS_write, file, line.data(), line.size());
    syscall(SYS_close, file);
  }
}

bool is_watched(std::string_view call) {
  return std::any_of(rules().begin(), rules().end(), [call](const LiveRule& live) {
    return names(live.rule, call);
  });
}

std::string path_of(int descriptor) {
  std::array<char, PATH_MAX> buffer = {};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t size = readlink(link.c_str(), buffer.data(), buffer.size());
  return size <= 0 ? "" : std::string(buffer.data(), static_cast<size_t>(size));
}

}  // namespace brigade::testing
