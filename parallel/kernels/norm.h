// SPDX-License-Identifier: Apache-2.0
/// Gradient norms that no sharding can change, non-finite elements, and in-place add and scale.
///
/// A row's sum of squares is summed in double over fixed lanes; the rows' sums meet in an ExactSum,
/// so any split of the rows over calls, ranks or threads gives the same norm. Give a parameter's
/// own rows (its last dim as columns): a shard of whole rows then adds the terms of those rows.
/// Thread safety: distinct outputs, safe.
#pragma once

#include <cstdint>

#include "parallel/base/exact_sum.h"

namespace brigade::kernels {

/// Adds the sum of squares of each row of `x` [rows, columns], contiguous, to `sum`.
void add_sum_of_squares(const float* x, int64_t rows, int64_t columns, ExactSum& sum);

/// The sum of squares of x[0, count), in double over fixed lanes.
double sum_of_squares(const float* x, int64_t count);

struct NonFinite {
  int64_t count = 0;
  int64_t first = -1;  // index of the first one
};

/// How many of x[0, count) are NaN or infinite, and where the first one is.
NonFinite find_nonfinite(const float* x, int64_t count);

/// x *= factor over [begin, end).
void scale(float factor, float* x, int64_t begin, int64_t end);

/// a += b over [begin, end).
void add(const float* b, float* a, int64_t begin, int64_t end);

}  // namespace brigade::kernels
