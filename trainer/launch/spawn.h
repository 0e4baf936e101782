// SPDX-License-Identifier: Apache-2.0
/// Starts all ranks on this machine as children and stays with them until the last is gone.
///
///   const std::vector<std::string> command = {"brigade", "train", "--config=recipe.toml"};
///   const int code = spawn(8, command, {.log_folder = "out"});
///
/// Environment: each rank is the same program with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT
/// set.
/// Output:      rank 0 has the console; the others write to rank_<n>.log in the log folder.
/// Failure:     when one rank fails, the others get a moment to report, then SIGTERM, then SIGKILL;
///              the text of the rank that failed first is printed last, once; above it, where it
///              left none, the end of its log.
/// Signals:     SIGINT, SIGTERM, SIGHUP and SIGUSR1 are passed on; the second one kills. Ranks may
///              take SIGTERM and SIGUSR1 as a wish to save and stop (stop_signals.h).
/// Lifetime:    nothing outlives the call, nor the launcher itself when it is killed.
#pragma once

#include <chrono>
#include <ostream>
#include <string>
#include <vector>

#include "parallel/base/result.h"

namespace brigade::launch {

struct SpawnOptions {
  std::string log_folder;                        ///< exists; empty: the others' output is dropped
  std::string executable = "/proc/self/exe";     ///< what the ranks run
  int port = 0;                                  ///< of rank 0 on loopback; 0: a free one
  std::chrono::milliseconds report_grace{2000};  ///< from the first failure to SIGTERM
  std::chrono::milliseconds terminate_grace{3000};  ///< from SIGTERM to SIGKILL
  std::chrono::milliseconds interrupt_grace{5000};  ///< from a signal passed on to SIGKILL
  std::chrono::milliseconds stop_grace{5000};       ///< the same for SIGTERM and SIGUSR1
  bool append_logs = false;                         ///< to what earlier runs left in the logs
  std::ostream* console = nullptr;                  ///< of the launcher's own lines; empty: stderr
};

/// Returns the exit code for the launcher: 0 when all ranks are done, 75 when they stopped early,
/// 128 + n after signal n, else that of the rank that failed first (exit_code.h).
///
/// Thread safety: call from the main thread of a process that has no other (ranks die with the
/// thread that starts them, and signals are taken from it). One call at a time.
int spawn(int ranks, const std::vector<std::string>& command_line, const SpawnOptions& options);

/// A TCP port of 127.0.0.1 that nobody listens on just now.
/// Errors: kIo.
Result<int> free_loopback_port();

}  // namespace brigade::launch
