// SPDX-License-Identifier: Apache-2.0
/// Starting one rank as a child process, and what it has said and how it ended.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/launch/failure_report.h"

namespace brigade::launch {

struct RankCommand {
  std::string executable;              ///< path for exec
  std::vector<std::string> arguments;  ///< argv, the program's name first
  int rank = 0;
  int world_size = 1;
  int master_port = 0;
  std::string log_path;     ///< output goes here; empty: the launcher's own console
  bool append_log = false;  ///< keep what is in the log
};

/// A child that is a rank. It cannot outlive the thread that started it: the kernel kills it when
/// that thread ends, also by kill -9.
///
/// Thread safety: one thread starts, watches and reaps.
class RankProcess {
 public:
  /// Errors: kIo when no pipe or process is to be had.
  static Result<RankProcess> start(const RankCommand& command);

  RankProcess(RankProcess&& other) noexcept;
  RankProcess& operator=(RankProcess&&) = delete;
  /// Kills and reaps what still runs.
  ~RankProcess();

  int rank() const { return rank_; }
  pid_t pid() const { return pid_; }
  bool running() const { return running_; }
  int report_descriptor() const { return report_fd_; }

  /// Sends a signal if the child still runs (its pid is then its own), and lets it go on if it was
  /// stopped.
  void signal(int number) const;
  /// Takes what lies in the report pipe, and notices an end. True if the child ended just now.
  bool reap();
  void drain();

  /// Of an ended child: its exit status, or 128 + signal.
  int code() const { return code_; }
  /// The signal that ended it, 0 for an exit.
  int ended_by() const { return signal_; }
  std::optional<Failure> failure() const { return decode(reported_); }

 private:
  RankProcess(int rank, pid_t pid, int report_fd) : rank_(rank), pid_(pid), report_fd_(report_fd) {}

  int rank_ = 0;
  pid_t pid_ = -1;
  int report_fd_ = -1;
  bool running_ = true;
  int code_ = 0;
  int signal_ = 0;
  std::string reported_;
};

}  // namespace brigade::launch
