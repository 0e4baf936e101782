// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/strip_product.h"

#include <algorithm>
#include <cmath>

#include "parallel/base/check.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace brigade::kernels {

namespace {

void plain_strip(const StripProduct& product) {
  for (int64_t row = 0; row < product.rows; ++row) {
    float* c = product.c + row * product.c_row;
    for (int64_t column = 0; column < product.columns; ++column) {
      float sum = product.accumulate ? c[column] : 0.0F;
      for (int64_t term = 0; term < product.terms; ++term) {
        sum = std::fma(product.a[row * product.a_row + term * product.a_term],
                       product.b[term * product.b_row + column],
                       sum);
      }
      c[column] = sum;
    }
  }
}

}  // namespace

#if defined(__x86_64__)
namespace {

#define BRIGADE_AVX512 __attribute__((target("avx512f")))

constexpr int64_t kLanes = 16;
constexpr int64_t kBlockVectors = 4;  // four rows of four sums keep both fma units busy

/// Of a vector of a row, in floats.
inline int64_t offset(size_t row, int64_t row_stride, size_t vector) {
  return static_cast<int64_t>(row) * row_stride + static_cast<int64_t>(vector) * kLanes;
}

/// The lanes of a vector that are there: all, but for the last one.
template <size_t kVectors>
BRIGADE_AVX512 inline __mmask16 lanes(size_t vector, __mmask16 tail) {
  return vector + 1 < kVectors ? __mmask16{0xffff} : tail;
}

/// Columns [column, column + kVectors * kLanes) of the strip, `tail` of the last vector.
template <size_t kRows, size_t kVectors>
BRIGADE_AVX512 void block(const StripProduct& product, int64_t column, __mmask16 tail) {
  __m512 sums[kRows][kVectors];
  float* const c = product.c + column;
#pragma GCC unroll 4
  for (size_t row = 0; row < kRows; ++row) {
#pragma GCC unroll 4
    for (size_t vector = 0; vector < kVectors; ++vector) {
      sums[row][vector] = product.accumulate
                              ? _mm512_maskz_loadu_ps(lanes<kVectors>(vector, tail),
                                                      c + offset(row, product.c_row, vector))
                              : _mm512_setzero_ps();
    }
  }
  const float* a = product.a;
  const float* b = product.b + column;
  for (int64_t term = 0; term < product.terms; ++term) {
    __m512 right[kVectors];
#pragma GCC unroll 4
    for (size_t vector = 0; vector < kVectors; ++vector) {
      right[vector] =
          _mm512_maskz_loadu_ps(lanes<kVectors>(vector, tail), b + offset(0, 0, vector));
    }
#pragma GCC unroll 4
    for (size_t row = 0; row < kRows; ++row) {
      const __m512 left = _mm512_set1_ps(a[offset(row, product.a_row, 0)]);
#pragma GCC unroll 4
      for (size_t vector = 0; vector < kVectors; ++vector) {
        sums[row][vector] = _mm512_fmadd_ps(left, right[vector], sums[row][vector]);
      }
    }
    a += product.a_term;
    b += product.b_row;
  }
#pragma GCC unroll 4
  for (size_t row = 0; row < kRows; ++row) {
#pragma GCC unroll 4
    for (size_t vector = 0; vector < kVectors; ++vector) {
      _mm512_mask_storeu_ps(
          c + offset(row, product.c_row, vector), lanes<kVectors>(vector, tail), sums[row][vector]);
    }
  }
}

template <size_t kRows>
BRIGADE_AVX512 void strip(const StripProduct& product) {
  for (int64_t column = 0; column < product.columns; column += kBlockVectors * kLanes) {
    const int64_t left = std::min(product.columns - column, kBlockVectors * kLanes);
    const int64_t vectors = (left + kLanes - 1) / kLanes;
    const auto tail = static_cast<__mmask16>(0xffffU >> (vectors * kLanes - left));
    switch (vectors) {
      case 1: block<kRows, 1>(product, column, tail); break;
      case 2: block<kRows, 2>(product, column, tail); break;
      case 3: block<kRows, 3>(product, column, tail); break;
      default: block<kRows, 4>(product, column, tail); break;
    }
  }
}

}  // namespace

bool strip_product_is_fast() {
  static const bool fast = __builtin_cpu_supports("avx512f") != 0;
  return fast;
}

void strip_product(const StripProduct& product) {
  BRIGADE_CHECK(1 <= product.rows && product.rows <= kStripRows, product.rows);
  if (!strip_product_is_fast()) {
    plain_strip(product);
    return;
  }
  switch (product.rows) {
    case 1: strip<1>(product); break;
    case 2: strip<2>(product); break;
    case 3: strip<3>(product); break;
    default: strip<4>(product); break;
  }
}

#else

bool strip_product_is_fast() {
  return false;
}

void strip_product(const StripProduct& product) {
  BRIGADE_CHECK(1 <= product.rows && product.rows <= kStripRows, product.rows);
  plain_strip(product);
}

#endif

}  // namespace brigade::kernels
