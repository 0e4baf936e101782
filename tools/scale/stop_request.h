// SPDX-License-Identifier: Apache-2.0
/// StopRequest: SIGINT or SIGTERM as a wish to stop, which a study looks at while it waits.
///
///   const StopRequest stop;
///   run_study(..., {.stop = [&] { return stop.made(); }}, ...);
///
/// The second signal ends the process as if nobody had listened. Signals are the process's: one
/// object at a time.
#pragma once

#include <csignal>

namespace brigade::scale {

class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  bool made() const;

 private:
  struct sigaction old_interrupt_ = {};
  struct sigaction old_terminate_ = {};
};

}  // namespace brigade::scale
