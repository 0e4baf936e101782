// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/norm.h"

#include <algorithm>
#include <bit>

#include "parallel/kernels/dispatch.h"
#include "parallel/kernels/lanes.h"

namespace brigade::kernels {
namespace {

constexpr int64_t kSearchBlock = 4096;

inline int32_t is_nonfinite(float value) {
  return (std::bit_cast<uint32_t>(value) & 0x7f800000U) == 0x7f800000U ? 1 : 0;
}

}  // namespace

BRIGADE_CLONES double sum_of_squares(const float* x, int64_t count) {
  return sum_doubles(count, [&](int64_t i) {
    const double value = static_cast<double>(x[i]);
    return value * value;
  });
}

void add_sum_of_squares(const float* x, int64_t rows, int64_t columns, ExactSum& sum) {
  for (int64_t row = 0; row < rows; ++row) {
    sum.add(sum_of_squares(x + row * columns, columns));
  }
}

BRIGADE_CLONES NonFinite find_nonfinite(const float* x, int64_t count) {
  NonFinite found;
  for (int64_t block = 0; block < count; block += kSearchBlock) {
    const int64_t block_end = std::min(block + kSearchBlock, count);
    int32_t here = 0;
    for (int64_t i = block; i < block_end; ++i) {
      here += is_nonfinite(x[i]);
    }
    if (here != 0 && found.first < 0) {
      found.first = std::find_if(x + block, x + block_end, is_nonfinite) - x;
    }
    found.count += here;
  }
  return found;
}

BRIGADE_CLONES void scale(float factor, float* x, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    x[i] *= factor;
  }
}

BRIGADE_CLONES void add(const float* b, float* a, int64_t begin, int64_t end) {
#pragma GCC ivdep
  for (int64_t i = begin; i < end; ++i) {
    a[i] += b[i];
  }
}

}  // namespace brigade::kernels
