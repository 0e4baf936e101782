// SPDX-License-Identifier: Apache-2.0
/// Rotary position embedding in its half-split form: element i of a head turns with element
/// i + head_dim / 2.
///
///   rotary_table(10000.0, head_dim, 0, sequence, cosines, sines);
///   rotary_forward(shape, x, cosines, sines, x, 0, shape.rows);   // in place
///
/// x, y: [rows, heads * head_dim], contiguous; row r is position r mod sequence, so a [batch,
/// sequence, ...] tensor has rows = batch * sequence. Tables: [sequence, head_dim / 2].
/// Splitting the row range over calls changes no bit; y may be x. Angles are fp32 whatever x is.
/// Thread safety: calls whose output rows are disjoint, safe.
#pragma once

#include <cstdint>

#include "parallel/kernels/element.h"

namespace brigade::kernels {

struct RotaryShape {
  int64_t rows;
  int64_t sequence;
  int64_t heads;
  int64_t head_dim;  // even
};

/// cos and sin of position * theta^(-2 i / head_dim), for the positions from `first` on, computed
/// in double. Tables: [count, head_dim / 2].
void rotary_table(
    double theta, int64_t head_dim, int64_t first, int64_t count, float* cosines, float* sines);

/// y = x turned by its position's angles, for rows [begin, end).
template <Element T>
void rotary_forward(const RotaryShape& shape,
                    const T* x,
                    const float* cosines,
                    const float* sines,
                    T* y,
                    int64_t begin,
                    int64_t end);

/// The inverse turn, which is forward's gradient: dx from dy.
template <Element T>
void rotary_backward(const RotaryShape& shape,
                     const T* dy,
                     const float* cosines,
                     const float* sines,
                     T* dx,
                     int64_t begin,
                     int64_t end);

}  // namespace brigade::kernels
