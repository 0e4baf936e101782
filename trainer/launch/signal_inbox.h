// SPDX-License-Identifier: Apache-2.0
/// Signals as something to wait for: blocked for the thread, and read from a descriptor.
#pragma once

#include <csignal>
#include <optional>

namespace brigade::launch {

/// While it lives, SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGCHLD of this thread arrive here alone.
///
/// Thread safety: one per process, on the thread that waits.
class SignalInbox {
 public:
  SignalInbox();
  ~SignalInbox();
  SignalInbox(const SignalInbox&) = delete;
  SignalInbox& operator=(const SignalInbox&) = delete;

  int descriptor() const { return fd_; }
  /// The next signal that has come, if any.
  std::optional<int> take();

 private:
  sigset_t old_mask_ = {};
  struct sigaction old_child_action_ = {};
  int fd_ = -1;
};

}  // namespace brigade::launch
