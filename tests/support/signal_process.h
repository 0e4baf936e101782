// SPDX-License-Identifier: Apache-2.0
/// signal_process: kill() for tests. A pid that is not known is -1, and to kill() that means every
/// process there is.
#pragma once

#include <csignal>
#include <stdexcept>
#include <string>
#include <sys/types.h>

namespace brigade::testing {

/// Signals one process; one that has gone is none the worse for it. Throws for what is no pid of
/// a process that a test may have started.
inline void signal_process(pid_t pid, int number) {
  if (pid <= 1) {
    throw std::invalid_argument("no process to signal: pid " + std::to_string(pid));
  }
  ::kill(pid, number);
}

}  // namespace brigade::testing
