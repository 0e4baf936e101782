// SPDX-License-Identifier: Apache-2.0
#include "trainer/launch/stop_signals.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <mutex>
#include <unistd.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"

namespace brigade::launch {
namespace {

constexpr std::array kNumbers = {SIGTERM, SIGUSR1};

// A handler knows nothing but what is global. Lock-free, so that it may be used there.
std::atomic<int> first_signal = 0;
std::atomic<int64_t> first_ms = 0;
std::atomic<bool> parent_asked = false;
std::atomic<bool> others_asked = false;
std::atomic<pid_t> parent = 0;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<int64_t>::is_always_lock_free &&
              std::atomic<bool>::is_always_lock_free);

int64_t now_ms() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

void note(int number, siginfo_t* info, void* /*context*/) {
  const int saved_errno = errno;
  const int64_t now = now_ms();
  int none = 0;
  const bool is_first = first_signal.compare_exchange_strong(none, number);
  if (is_first) {
    first_ms = now;
  }
  std::atomic<bool>& asked = info->si_pid == parent ? parent_asked : others_asked;
  if (asked.exchange(true) && !is_first && now - first_ms > kSignalEcho.count()) {
    std::signal(number, SIG_DFL);
    raise(number);  // pending until this handler returns, and then the end
  }
  errno = saved_errno;
}

std::mutex listeners_mutex;
int listeners = 0;
std::array<struct sigaction, kNumbers.size()> old_actions = {};

}  // namespace

StopSignals::StopSignals() {
  const std::lock_guard lock(listeners_mutex);
  if (listeners++ > 0) {
    return;
  }
  parent = getppid();
  struct sigaction action = {};
  action.sa_sigaction = note;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int number : kNumbers) {
    sigaddset(&action.sa_mask, number);
  }
  for (size_t i = 0; i < kNumbers.size(); ++i) {
    BRIGADE_CHECK(sigaction(kNumbers[i], &action, &old_actions[i]) == 0, kNumbers[i], errno);
  }
}

StopSignals::~StopSignals() {
  const std::lock_guard lock(listeners_mutex);
  if (--listeners > 0) {
    return;
  }
  for (size_t i = 0; i < kNumbers.size(); ++i) {
    sigaction(kNumbers[i], &old_actions[i], nullptr);
  }
  first_signal = 0;
  parent_asked = false;
  others_asked = false;
}

int StopSignals::requested() const {
  return first_signal;
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name == nullptr ? concat("signal ", number) : concat("SIG", name);
}

}  // namespace brigade::launch
