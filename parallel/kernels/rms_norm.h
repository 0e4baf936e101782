// SPDX-License-Identifier: Apache-2.0
/// Root mean square norm: y = x / sqrt(mean(x^2) + eps) * gain, row by row.
///
///   rms_norm_forward(shape, x, gain, eps, y, inverse_rms, 0, shape.rows);
///
/// x, y, their gradients: [rows, dim], contiguous; gain: [dim]; inverse_rms: [rows], fp32 whatever
/// the others are. In bf16 each output is rounded once.
/// Splitting the row range (the column range, for the gain's gradient) over calls changes no bit.
/// Thread safety: calls whose output ranges are disjoint, safe.
#pragma once

#include <cstdint>

#include "parallel/kernels/element.h"

namespace brigade::kernels {

struct RmsNormShape {
  int64_t rows;
  int64_t dim;
};

/// Writes rows [begin, end) of `y` and of `inverse_rms` (= 1 / sqrt(mean(x^2) + eps)). y may be x.
template <Element T>
void rms_norm_forward(const RmsNormShape& shape,
                      const T* x,
                      const T* gain,
                      float eps,
                      T* y,
                      float* inverse_rms,
                      int64_t begin,
                      int64_t end);

/// Writes rows [begin, end) of `dx`; `inverse_rms` as forward saved it. dx may be dy or x.
template <Element T>
void rms_norm_backward(const RmsNormShape& shape,
                       const T* x,
                       const T* gain,
                       const float* inverse_rms,
                       const T* dy,
                       T* dx,
                       int64_t begin,
                       int64_t end);

/// Writes columns [begin, end) of `dgain`: the sum over all rows of dy * x * inverse_rms, in row
/// order, in double between blocks of rows.
template <Element T>
void rms_norm_gain_gradient(const RmsNormShape& shape,
                            const T* x,
                            const float* inverse_rms,
                            const T* dy,
                            T* dgain,
                            int64_t begin,
                            int64_t end);

}  // namespace brigade::kernels
