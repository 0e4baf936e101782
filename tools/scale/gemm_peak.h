// SPDX-License-Identifier: Apache-2.0
/// gemm_peak: what this machine reaches in one large matrix product, to measure steps by.
#pragma once

#include <cstdint>

#include "parallel/base/dtype.h"

namespace brigade::scale {

/// Multiplications and additions a second of a square product of 1024 by `threads` threads of this
/// process, by the faster of the libraries that training uses: the best of at least a dozen
/// products and 0.3 s. `dtype`: fp32 or bf16. Sets libtorch's number of threads.
double gemm_peak(DType dtype, int64_t threads);

}  // namespace brigade::scale
