// SPDX-License-Identifier: Apache-2.0
/// Runs a program with all that it starts, as one thing that can be ended.
///
///   const TreeEnd end = run_tree({.argv = {"/usr/bin/brigade", "train", ...}, .out_path = "o.log",
///                                 .err_path = "o.log", .timeout = 5min}, stop);
///
/// A keeper process stands between: orphans of the program become its children, also those that
/// went into a session of their own, so it finds and ends them all. When this process dies, in
/// whatever way, the keeper ends the tree and itself.
///
/// Kills: nothing but the program and its descendants. Leaves none of them running.
/// Waits: bounded by timeout + grace, however the tree behaves; `stop` is asked ten times a second.
/// Thread safety: one call at a time, from a thread that lives on. Other threads of the process may
/// sleep meanwhile (a pool's), and hold no locks: the keeper is a fork that does not exec.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "parallel/base/result.h"

namespace brigade::study {

struct TreeCommand {
  std::vector<std::string> argv;  ///< argv[0] is a path, or found in PATH
  std::string out_path;           ///< standard output; created, or emptied
  std::string err_path;           ///< standard error; may be the same
  std::chrono::milliseconds timeout{0};
  std::chrono::milliseconds grace{5000};  ///< from SIGTERM to SIGKILL
};

struct TreeEnd {
  enum class How : uint8_t {
    kEnded,     ///< by itself
    kTimedOut,  ///< ended here, late
    kStopped    ///< ended here, since stop() said so
  };
  How how = How::kEnded;
  int code = 0;          ///< of an exit
  int signal = 0;        ///< that ended it; 0: an exit
  bool orphans = false;  ///< it ended and left processes behind, which were killed
  double seconds = 0;

  bool well() const { return how == How::kEnded && code == 0 && signal == 0; }
};

/// Errors: kIo when no process or pipe is to be had, or an output cannot be opened. A program that
///         cannot be run ends with code 127 and says so on its standard error.
Result<TreeEnd> run_tree(const TreeCommand& command, const std::function<bool()>& stop);

/// "failed with code 3", "was ended by SIGSEGV", "did not end within 5 s and was ended".
std::string to_string(const TreeEnd& end);

}  // namespace brigade::study
