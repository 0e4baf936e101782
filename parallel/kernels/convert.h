// SPDX-License-Identifier: Apache-2.0
/// bf16 rows as floats and back, the latter rounded to nearest even (element.h).
///
///   widen_rows(64, 128, q, q_stride, tile, 128);   // [64, 128] of a wider matrix, packed
///
/// Strides count elements between rows; columns are neighbours. No overlap.
/// Cost:          memory speed.
/// Thread safety: distinct outputs, safe.
#pragma once

#include <cstdint>

#include "parallel/kernels/element.h"

namespace brigade::kernels {

void widen_rows(int64_t rows,
                int64_t columns,
                const BFloat16* from,
                int64_t from_stride,
                float* to,
                int64_t to_stride);

void narrow_rows(int64_t rows,
                 int64_t columns,
                 const float* from,
                 int64_t from_stride,
                 BFloat16* to,
                 int64_t to_stride);

}  // namespace brigade::kernels
