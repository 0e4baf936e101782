// SPDX-License-Identifier: Apache-2.0
/// The part of one box that lies in another, as runs of bytes: what a read or a copy moves at once.
#pragma once

#include <cstdint>
#include <functional>

#include "parallel/base/result.h"
#include "parallel/sharding/interval.h"

namespace brigade::checkpoint {

/// `bytes` bytes at `from` of the one, and at `to` of the other.
struct Run {
  uint64_t from = 0;
  uint64_t to = 0;
  uint64_t bytes = 0;

  bool operator==(const Run&) const = default;
};

/// Calls `visit` for each run of what `source` and `target`, boxes of one tensor, have in common;
/// both lie in memory or in a file row-major, with `element` bytes per element. Ascending in
/// `from`; each as long as it can be.
/// Errors: those of `visit`; the first ends the call.
Result<void> for_each_run(const sharding::Box& source,
                          const sharding::Box& target,
                          uint64_t element,
                          const std::function<Result<void>(const Run&)>& visit);

}  // namespace brigade::checkpoint
