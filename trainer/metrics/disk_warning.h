// SPDX-License-Identifier: Apache-2.0
/// One warning for everything that a run could not write: a full disk stops no training.
#pragma once

#include <atomic>
#include <functional>
#include <string>

namespace brigade::metrics {

/// Thread safety: shared use is safe.
class DiskWarning {
 public:
  using Sink = std::function<void(const std::string&)>;

  explicit DiskWarning(Sink sink) : sink_(std::move(sink)) {}

  /// Says that `path` could not be written, the first time; later calls are silent.
  void report(const std::string& path, const std::string& reason) {
    if (!said_.exchange(true)) {
      sink_("warning: could not write " + path + ": " + reason +
            "; the run goes on without it, and this is said once");
    }
  }

 private:
  Sink sink_;
  std::atomic<bool> said_ = false;
};

}  // namespace brigade::metrics
