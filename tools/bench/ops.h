// SPDX-License-Identifier: Apache-2.0
/// `brigade bench ops`: what the sharding language adds to libtorch's own calls.
///
///   brigade bench ops
///
/// Runs each op on tensors of a few elements, on a mesh of one rank with warm plans, beside the
/// bare libtorch calls: forward alone and forward with backward, interleaved, the median of many
/// rounds. Prints a table and one JSON line; microseconds per call.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace brigade::bench {

/// Microseconds per call, medians.
struct OpTimes {
  std::string op;
  double bare_forward_us = 0.0;
  double forward_us = 0.0;
  double bare_both_us = 0.0;  ///< forward and backward
  double both_us = 0.0;

  double added_forward_us() const { return forward_us - bare_forward_us; }
  double added_both_us() const { return both_us - bare_both_us; }
};

/// `rounds` of `calls` each.
std::vector<OpTimes> time_ops(int rounds, int calls);

/// `brigade bench ops`. Returns the exit code.
int ops(std::ostream& out);

}  // namespace brigade::bench
