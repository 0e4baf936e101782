// SPDX-License-Identifier: Apache-2.0
#include "trainer/launch/signal_inbox.h"

#include <cerrno>
#include <sys/signalfd.h>
#include <unistd.h>

#include "parallel/base/check.h"

namespace brigade::launch {

SignalInbox::SignalInbox() {
  sigset_t mask;
  sigemptyset(&mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD}) {
    sigaddset(&mask, number);
  }
  sigprocmask(SIG_BLOCK, &mask, &old_mask_);
  // An ignored SIGCHLD, inherited from whoever started us, would lose the exit codes of children.
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &by_default, &old_child_action_);
  fd_ = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
  BRIGADE_CHECK(fd_ >= 0, errno);
}

SignalInbox::~SignalInbox() {
  // What came while we listened was meant for us: a second Ctrl-C must not end the launcher now.
  while (take()) {
  }
  close(fd_);
  sigaction(SIGCHLD, &old_child_action_, nullptr);
  sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
}

std::optional<int> SignalInbox::take() {
  signalfd_siginfo info = {};
  if (read(fd_, &info, sizeof(info)) != static_cast<ssize_t>(sizeof(info))) {
    return std::nullopt;
  }
  return static_cast<int>(info.ssi_signo);
}

}  // namespace brigade::launch
