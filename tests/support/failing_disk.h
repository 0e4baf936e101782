// SPDX-License-Identifier: Apache-2.0
/// A disk that fails as a test wants it to, for programs that the test starts.
///
///   CommandRun run({.command = {BRIGADE_EXECUTABLE, "train", ...},
///                   .environment = failing_disk({{.calls = "write", .path = "rank-00001",
///                                                 .error = ENOSPC}}),
///                   .console = console});
///
/// The program's calls into the C library go through failing_disk_preload.cc first, which is loaded
/// by the environment that failing_disk() makes, also into the ranks that a launcher starts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace brigade::testing {

enum class Kill : uint8_t { kNobody, kCaller, kParent };

/// What happens to the calls of some kinds that concern some paths. Every rule that fits a call
/// acts, in order; the first that fails the call is the last that acts.
struct DiskRule {
  /// Kinds, joined by '|': create (open with O_CREAT), open (without), read, write, sync, rename,
  /// mkdir, remove, space (statvfs).
  std::string calls = "";
  /// A part of the path; of a rename it is "FROM -> TO".
  std::string path = "";
  int rank = -1;      ///< that has it; -1: every process
  int64_t from = 1;   ///< the first of the process's fitting calls that it is about
  int64_t times = 0;  ///< about how many; 0: all that follow

  int error = 0;              ///< an errno: the call fails with it
  int64_t fits_bytes = -1;    ///< with a write's `error`: bytes that are taken before it fails
  int delay_ms = 0;           ///< the call first waits
  int64_t free_bytes = -1;    ///< what a space call finds
  Kill kill = Kill::kNobody;  ///< SIGKILL instead of the call
  bool throws = false;        ///< a std::runtime_error instead of the call (write and sync alone)
  std::string log = "";       ///< a file that gets a line for each call
};

/// The variables to start a program with.
std::map<std::string, std::string> failing_disk(const std::vector<DiskRule>& rules);

/// A line of a log.
struct DiskCall {
  int rank = -1;  ///< -1: no rank
  std::string call;
  int64_t result = 0;  ///< bytes of reads and writes; -1: it failed
  std::string path;
};
std::vector<DiskCall> logged_calls(const std::string& log);

}  // namespace brigade::testing
