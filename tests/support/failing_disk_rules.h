// SPDX-License-Identifier: Apache-2.0
/// The rules of failing_disk.h as the preloaded object sees them. Uses no call that it stands in
/// front of.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/failing_disk.h"

namespace brigade::testing {

/// A call on its way to the C library.
struct Attempt {
  std::string_view call;  ///< as in DiskRule::calls
  std::string path;
  int64_t bytes = 0;  ///< of a write
};

/// What is to become of it.
struct Verdict {
  int error = 0;
  std::optional<int64_t> bytes;       ///< of a write that does not fit whole
  std::optional<int64_t> free_bytes;  ///< what a space call finds
};

/// Waits, kills, throws as the rules say, and tells what the call shall do.
Verdict judge(const Attempt& attempt);

/// Writes to the logs that want the call.
void log_call(const Attempt& attempt, int64_t result);

/// Whether any rule is about calls of this kind: else its path need not be found out.
bool is_watched(std::string_view call);

/// The path of a descriptor; "" when it has none.
std::string path_of(int descriptor);

}  // namespace brigade::testing
