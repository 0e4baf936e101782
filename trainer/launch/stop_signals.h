// SPDX-License-Identifier: Apache-2.0
/// StopSignals: SIGTERM and SIGUSR1 as a wish to stop, which the loop of a run looks at between two
/// steps.
///
///   const launch::StopSignals signals;
///   ...
///   if (signals.requested() != 0) ...      // agree with all ranks, save, leave with exit code 75
///
/// The first signal is noted and nothing else happens; a second one ends the process at once, as if
/// nobody had listened. One wish may come as several signals: whoever ends a job may signal every
/// process of it, launcher and ranks, and the launcher passes its own on. So each of the parent and
/// the rest of the world has one signal free, and what comes within kSignalEcho of the first is
/// never a second (`timeout` signals its child, and then the child's group).
#pragma once

#include <chrono>
#include <string>

namespace brigade::launch {

/// Signals that come this close together are one wish.
inline constexpr std::chrono::milliseconds kSignalEcho{200};

/// Thread safety: any thread, also several objects at once; signals are the process's, so all of
/// them see the same. What was noted is forgotten with the last object.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// SIGTERM or SIGUSR1, whichever came first; 0: none. Costs a load.
  int requested() const;
};

/// "SIGTERM"; "signal 77" for one without a name.
std::string signal_name(int number);

}  // namespace brigade::launch
