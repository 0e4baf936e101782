// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/rms_norm.h"

#include <algorithm>
#include <cmath>

#include "parallel/kernels/dispatch.h"
#include "parallel/kernels/lanes.h"

namespace brigade::kernels {
namespace {

constexpr int64_t kColumnTile = 256;  // the tile's sums stay in the first-level cache
constexpr int64_t kRowBlock = 32;     // rows added in float before the sum moves to double

}  // namespace

BRIGADE_CLONES void rms_norm_forward(const RmsNormShape& shape,
                                     const float* x,
                                     const float* gain,
                                     float eps,
                                     float* y,
                                     float* inverse_rms,
                                     int64_t begin,
                                     int64_t end) {
  const int64_t dim = shape.dim;
  for (int64_t row = begin; row < end; ++row) {
    const float* x_row = x + row * dim;
    float* y_row = y + row * dim;
    const float sum = sum_floats(dim, [&](int64_t i) { return x_row[i] * x_row[i]; });
    const float inverse = 1.0F / std::sqrt(sum / static_cast<float>(dim) + eps);
    inverse_rms[row] = inverse;
#pragma GCC ivdep
    for (int64_t i = 0; i < dim; ++i) {
      y_row[i] = x_row[i] * inverse * gain[i];
    }
  }
}

BRIGADE_CLONES void rms_norm_backward(const RmsNormShape& shape,
                                      const float* x,
                                      const float* gain,
                                      const float* inverse_rms,
                                      const float* dy,
                                      float* dx,
                                      int64_t begin,
                                      int64_t end) {
  const int64_t dim = shape.dim;
  for (int64_t row = begin; row < end; ++row) {
    const float* x_row = x + row * dim;
    const float* dy_row = dy + row * dim;
    float* dx_row = dx + row * dim;
    const float inverse = inverse_rms[row];
    const float dot =
        sum_floats(dim, [&](int64_t i) { return dy_row[i] * gain[i] * (x_row[i] * inverse); });
    const float mean = dot / static_cast<float>(dim);
#pragma GCC ivdep
    for (int64_t i = 0; i < dim; ++i) {
      dx_row[i] = (dy_row[i] * gain[i] - x_row[i] * inverse * mean) * inverse;
    }
  }
}

BRIGADE_CLONES void rms_norm_gain_gradient(const RmsNormShape& shape,
                                           const float* x,
                                           const float* inverse_rms,
                                           const float* dy,
                                           float* dgain,
                                           int64_t begin,
                                           int64_t end) {
  const int64_t dim = shape.dim;
  for (int64_t column = begin; column < end; column += kColumnTile) {
    const int64_t width = std::min(kColumnTile, end - column);
    double total[kColumnTile] = {};
    for (int64_t block = 0; block < shape.rows; block += kRowBlock) {
      float partial[kColumnTile] = {};
      const int64_t block_end = std::min(block + kRowBlock, shape.rows);
      for (int64_t row = block; row < block_end; ++row) {
        const float* x_row = x + row * dim + column;
        const float* dy_row = dy + row * dim + column;
        const float inverse = inverse_rms[row];
#pragma GCC ivdep
        for (int64_t i = 0; i < width; ++i) {
          partial[i] += dy_row[i] * (x_row[i] * inverse);
        }
      }
      for (int64_t i = 0; i < width; ++i) {
        total[i] += static_cast<double>(partial[i]);
      }
    }
    for (int64_t i = 0; i < width; ++i) {
      dgain[column + i] = static_cast<float>(total[i]);
    }
  }
}

}  // namespace brigade::kernels
