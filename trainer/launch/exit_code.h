// SPDX-License-Identifier: Apache-2.0
/// The exit codes of `brigade`, for ranks and for the launcher alike.
///
///   0  done                     75  stopped early, with a checkpoint saved: run again to go on
///   1  failed                   128 + n  ended by signal n (130: interrupted, 143: terminated)
///   2  wrong usage or config
#pragma once

#include <cstdint>

#include "parallel/base/result.h"

namespace brigade::launch {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitStoppedEarly = 75;
inline constexpr int kExitSignalBase = 128;

/// How a rank's work ended that did not fail.
enum class RunEnd : uint8_t {
  kFinished,
  kStoppedEarly,  ///< asked to stop, with a checkpoint saved
};

constexpr int exit_code(RunEnd end) {
  return end == RunEnd::kFinished ? kExitDone : kExitStoppedEarly;
}

/// Of work that knows no early end.
inline Result<RunEnd> finished(const Result<void>& done) {
  return done ? Result<RunEnd>(RunEnd::kFinished) : fail(done.error());
}

/// The exit code that an error asks for.
constexpr int exit_code(ErrorCode code) {
  return code == ErrorCode::kUsage ? kExitUsage : kExitFailed;
}

}  // namespace brigade::launch
