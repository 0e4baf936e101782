// SPDX-License-Identifier: Apache-2.0
/// c = a b, or c += a b, for batches of matrices with any layout that has one unit stride: oneDNN's
/// side of the matrix product seam.
///
///   // y [rows, out] = x [rows, in] w^T, with w [out, in]
///   matmul(DType::kFloat32, 1, rows, out, in,
///          {.data = x, .row_stride = in, .column_stride = 1},
///          {.data = w, .row_stride = 1, .column_stride = in},
///          {.data = y, .dtype = DType::kFloat32, .row_stride = out});
///
/// Strides count elements. Transposed views are taken as they are, nothing is copied. The kernel
/// for a shape is made once per thread and kept (4 us, then 0.4 us a call). Equal shape, strides,
/// thread count and processor give equal bits, wherever the data lies.
/// Thread safety: safe, from any number of threads, on disjoint outputs.
#pragma once

#include <cstdint>

#include "parallel/base/dtype.h"

namespace brigade::kernels {

struct MatmulOperand {
  const void* data;
  int64_t row_stride;
  int64_t column_stride;
  int64_t batch_stride = 0;  // 0: one matrix for the whole batch
};

struct MatmulResult {
  void* data;
  DType dtype;  // kFloat32, or kBFloat16 for bf16 operands
  int64_t row_stride;
  int64_t column_stride = 1;
  int64_t batch_stride = 0;  // ignored when batch is 1
};

/// c [batch, m, n] = a [batch, m, k] b [batch, k, n], plus the old c if `accumulate`. `dtype` is
/// that of a and b: kFloat32 or kBFloat16; sums are in float. Any size may be 0.
void matmul(DType dtype,
            int64_t batch,
            int64_t m,
            int64_t n,
            int64_t k,
            const MatmulOperand& a,
            const MatmulOperand& b,
            const MatmulResult& c,
            bool accumulate);

/// Whether oneDNN multiplies this type on this processor (bf16 needs AVX-512).
bool matmul_supports(DType dtype);

/// How many OpenMP threads the calling thread's products use from now on. A setting of the calling
/// thread, shared with every other user of its OpenMP runtime (libtorch's own loops too).
void set_matmul_threads(int threads);
int matmul_threads();

}  // namespace brigade::kernels
