// SPDX-License-Identifier: Apache-2.0
/// A program that a test starts, and everything that descends from it.
///
///   CommandRun run({.command = {BRIGADE_EXECUTABLE, "train", ...},
///                   .console = folder + "/console"});
///   ASSERT_TRUE(comes_true([&] { return run.rank(3) > 0; }));
///   testing::signal_process(run.rank(3), SIGKILL);
///   EXPECT_EQ(run.wait(10s), 137);
///   EXPECT_TRUE(run.all_gone());
///
/// Descendants are known by a mark in their environment, not by parent or group, so those that lost
/// their parent are found too. The program leads a process group of its own.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "tests/support/signal_process.h"

namespace brigade::testing {

/// Polls until `condition` holds; false when it does not within `limit`.
bool comes_true(const std::function<bool()>& condition,
                std::chrono::milliseconds limit = std::chrono::seconds(40));

struct CommandOptions {
  std::vector<std::string> command;                ///< path and arguments
  std::map<std::string, std::string> environment;  ///< over the test's own, less any launcher's
  std::string console;  ///< the file that takes stdout and stderr, in the order they are written
};

/// Thread safety: belongs to one thread.
class CommandRun {
 public:
  /// Throws std::system_error when no process is to be had.
  explicit CommandRun(CommandOptions options);
  CommandRun(const CommandRun&) = delete;
  CommandRun& operator=(const CommandRun&) = delete;
  /// Kills and reaps what is left.
  ~CommandRun();

  pid_t pid() const { return pid_; }

  /// The program's exit code, or 128 + the signal that ended it; empty when it still runs at the
  /// end of `limit`.
  std::optional<int> wait(std::chrono::milliseconds limit);

  /// What was written so far.
  std::string console() const;

  /// The program and its descendants that live (zombies do not), in no order.
  std::vector<pid_t> processes() const;

  /// The descendant that was told to be rank `rank`; -1 when there is none yet, or no more.
  pid_t rank(int rank) const;

  /// Whether no process is left, or none is after a moment: the kernel takes one to end them.
  bool all_gone() const;

 private:
  void reap(int options);

  CommandOptions options_;
  std::string mark_;  // NAME=value, in every descendant's environment
  pid_t pid_ = -1;
  std::optional<int> code_;
};

}  // namespace brigade::testing
