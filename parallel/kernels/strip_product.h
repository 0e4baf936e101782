// SPDX-License-Identifier: Apache-2.0
/// c = a b, or c += a b, for a strip of up to four rows, with operands that lie in cache: the inner
/// loop of attention's products, which are too small to pay for the packing of a library.
///
///   strip_product({.rows = 4, .columns = 64, .terms = 64, .a = q, .a_row = dim, .a_term = 1,
///                  .b = keys, .b_row = 64, .c = scores, .c_row = 64, .accumulate = false});
///
/// Each element is one chain of fma over the terms in order, starting from 0 or from the old c: its
/// bits depend on nothing else, not even on the processor. Fast with AVX-512, slow without.
/// Thread safety: distinct outputs, safe.
#pragma once

#include <cstdint>

namespace brigade::kernels {

inline constexpr int64_t kStripRows = 4;

struct StripProduct {
  int64_t rows;     // 1 ... kStripRows
  int64_t columns;  // any
  int64_t terms;    // any
  const float* a;
  int64_t a_row;
  int64_t a_term;
  const float* b;
  int64_t b_row;  // between terms; columns are neighbours
  float* c;
  int64_t c_row;  // columns are neighbours
  bool accumulate;
};

/// Whether this processor has AVX-512; if not, a library serves better.
bool strip_product_is_fast();

void strip_product(const StripProduct& product);

}  // namespace brigade::kernels
