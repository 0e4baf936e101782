// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/causal_softmax.h"

#include <algorithm>
#include <limits>

#include "parallel/kernels/dispatch.h"
#include "parallel/kernels/exp.h"
#include "parallel/kernels/lanes.h"

namespace brigade::kernels {
namespace {

/// How far to run so that no vector is broken: what is hidden is made to add 0, which changes no
/// bit of a sum.
inline int64_t whole_vectors(int64_t seen, int64_t keys) {
  return std::min((seen + kFloatLanes - 1) / kFloatLanes * kFloatLanes, keys);
}

}  // namespace

BRIGADE_CLONES void causal_softmax(const CausalTile& tile, float scale, float* x) {
  for (int64_t row = 0; row < tile.rows; ++row) {
    float* r = x + row * tile.row_stride;
    const int64_t seen = tile.first + row + 1;
    const int64_t padded = whole_vectors(seen, tile.keys);
    std::fill(r + seen, r + padded, -std::numeric_limits<float>::infinity());
    // A negative scale would turn the maximum around; attention's is positive.
    const float max = max_floats(r, padded);
    const float sum = sum_floats(padded, [&](int64_t i) {
      const float e = exp((r[i] - max) * scale);
      r[i] = e;
      return e;
    });
    const float inverse = 1.0F / sum;
    for (int64_t i = 0; i < padded; ++i) {
      r[i] *= inverse;
    }
    std::fill(r + seen, r + tile.keys, 0.0F);
  }
}

BRIGADE_CLONES void causal_softmax_backward(const CausalTile& tile,
                                            float scale,
                                            const float* p,
                                            float* dp) {
  for (int64_t row = 0; row < tile.rows; ++row) {
    const float* p_row = p + row * tile.row_stride;
    float* d = dp + row * tile.row_stride;
    const int64_t seen = tile.first + row + 1;
    const int64_t padded = whole_vectors(seen, tile.keys);
    std::fill(d + seen, d + padded, 0.0F);
    const float dot = sum_floats(padded, [&](int64_t i) { return p_row[i] * d[i]; });
#pragma GCC ivdep
    for (int64_t i = 0; i < padded; ++i) {
      d[i] = p_row[i] * (d[i] - dot) * scale;
    }
    std::fill(d + seen, d + tile.keys, 0.0F);
  }
}

}  // namespace brigade::kernels
