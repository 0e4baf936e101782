// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/convert.h"

#include "parallel/kernels/dispatch.h"

namespace brigade::kernels {

BRIGADE_CLONES void widen_rows(int64_t rows,
                               int64_t columns,
                               const BFloat16* from,
                               int64_t from_stride,
                               float* to,
                               int64_t to_stride) {
  for (int64_t row = 0; row < rows; ++row) {
    const BFloat16* in = from + row * from_stride;
    float* out = to + row * to_stride;
#pragma GCC ivdep
    for (int64_t i = 0; i < columns; ++i) {
      out[i] = widen(in[i]);
    }
  }
}

BRIGADE_CLONES void narrow_rows(int64_t rows,
                                int64_t columns,
                                const float* from,
                                int64_t from_stride,
                                BFloat16* to,
                                int64_t to_stride) {
  for (int64_t row = 0; row < rows; ++row) {
    const float* in = from + row * from_stride;
    BFloat16* out = to + row * to_stride;
#pragma GCC ivdep
    for (int64_t i = 0; i < columns; ++i) {
      out[i] = narrow<BFloat16>(in[i]);
    }
  }
}

}  // namespace brigade::kernels
