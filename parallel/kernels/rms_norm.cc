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

template <Element T>
BRIGADE_CLONES void rms_norm_forward(const RmsNormShape& shape,
                                     const T* x,
                                     const T* gain,
                                     float eps,
                                     T* y,
                                     float* inverse_rms,
                                     int64_t begin,
                                     int64_t end) {
  const int64_t dim = shape.dim;
  for (int64_t row = begin; row < end; ++row) {
    const T* x_row = x + row * dim;
    T* y_row = y + row * dim;
    const float sum = sum_floats(dim, [&](int64_t i) {
      const float value = widen(x_row[i]);
      return value * value;
    });
    const float inverse = 1.0F / std::sqrt(sum / static_cast<float>(dim) + eps);
    inverse_rms[row] = inverse;
#pragma GCC ivdep
    for (int64_t i = 0; i < dim; ++i) {
      y_row[i] = narrow<T>(widen(x_row[i]) * inverse * widen(gain[i]));
    }
  }
}

template <Element T>
BRIGADE_CLONES void rms_norm_backward(const RmsNormShape& shape,
                                      const T* x,
                                      const T* gain,
                                      const float* inverse_rms,
                                      const T* dy,
                                      T* dx,
                                      int64_t begin,
                                      int64_t end) {
  const int64_t dim = shape.dim;
  for (int64_t row = begin; row < end; ++row) {
    const T* x_row = x + row * dim;
    const T* dy_row = dy + row * dim;
    T* dx_row = dx + row * dim;
    const float inverse = inverse_rms[row];
    const float dot = sum_floats(dim, [&](int64_t i) {
      return widen(dy_row[i]) * widen(gain[i]) * (widen(x_row[i]) * inverse);
    });
    const float mean = dot / static_cast<float>(dim);
#pragma GCC ivdep
    for (int64_t i = 0; i < dim; ++i) {
      const float own = widen(dy_row[i]) * widen(gain[i]);
      dx_row[i] = narrow<T>((own - widen(x_row[i]) * inverse * mean) * inverse);
    }
  }
}

template <Element T>
BRIGADE_CLONES void rms_norm_gain_gradient(const RmsNormShape& shape,
                                           const T* x,
                                           const float* inverse_rms,
                                           const T* dy,
                                           T* dgain,
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
        const T* x_row = x + row * dim + column;
        const T* dy_row = dy + row * dim + column;
        const float inverse = inverse_rms[row];
#pragma GCC ivdep
        for (int64_t i = 0; i < width; ++i) {
          partial[i] += widen(dy_row[i]) * (widen(x_row[i]) * inverse);
        }
      }
      for (int64_t i = 0; i < width; ++i) {
        total[i] += static_cast<double>(partial[i]);
      }
    }
    for (int64_t i = 0; i < width; ++i) {
      dgain[column + i] = narrow<T>(static_cast<float>(total[i]));
    }
  }
}

template void rms_norm_forward(
    const RmsNormShape&, const float*, const float*, float, float*, float*, int64_t, int64_t);
template void rms_norm_forward(const RmsNormShape&,
                               const BFloat16*,
                               const BFloat16*,
                               float,
                               BFloat16*,
                               float*,
                               int64_t,
                               int64_t);
template void rms_norm_backward(const RmsNormShape&,
                                const float*,
                                const float*,
                                const float*,
                                const float*,
                                float*,
                                int64_t,
                                int64_t);
template void rms_norm_backward(const RmsNormShape&,
                                const BFloat16*,
                                const BFloat16*,
                                const float*,
                                const BFloat16*,
                                BFloat16*,
                                int64_t,
                                int64_t);
template void rms_norm_gain_gradient(
    const RmsNormShape&, const float*, const float*, const float*, float*, int64_t, int64_t);
template void rms_norm_gain_gradient(const RmsNormShape&,
                                     const BFloat16*,
                                     const float*,
                                     const BFloat16*,
                                     BFloat16*,
                                     int64_t,
                                     int64_t);

}  // namespace brigade::kernels
