// SPDX-License-Identifier: Apache-2.0
/// Splits a kernel's rows over the rank's threads. Kernels give equal bits for any split.
#pragma once

#include <algorithm>
#include <cstdint>

#include <ATen/Parallel.h>

namespace brigade::tensor {

/// Calls body(begin, end) so that [0, count) is covered once; `cost` is the elements touched per
/// row.
template <class Body>
void parallel_rows(int64_t count, int64_t cost, const Body& body) {
  constexpr int64_t kElementsPerTask = int64_t{1} << 15;
  at::parallel_for(
      0, count, std::max<int64_t>(1, kElementsPerTask / std::max<int64_t>(1, cost)), body);
}

}  // namespace brigade::tensor
