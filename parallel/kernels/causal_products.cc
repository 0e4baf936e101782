// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/causal_products.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "parallel/kernels/convert.h"
#include "parallel/kernels/matmul.h"
#include "parallel/kernels/strip_product.h"

namespace brigade::kernels {
namespace {

MatmulOperand rows_of(const float* data, int64_t row_stride) {
  return {.data = data, .row_stride = row_stride, .column_stride = 1};
}

MatmulResult result_at(float* data, int64_t row_stride) {
  return {.data = data, .dtype = DType::kFloat32, .row_stride = row_stride};
}

using Four = float __attribute__((vector_size(16)));
using FourPlaces = int32_t __attribute__((vector_size(16)));

Four load_four(const float* from) {
  Four four;
  std::memcpy(&four, from, sizeof(four));
  return four;
}

Four load_four(const BFloat16* from) {
  using FourHalves = uint16_t __attribute__((vector_size(8)));
  using FourBits = uint32_t __attribute__((vector_size(16)));
  FourHalves halves;
  std::memcpy(&halves, from, sizeof(halves));
  return std::bit_cast<Four>(__builtin_convertvector(halves, FourBits) << 16);
}

/// Four rows of four elements at `x` become four columns of a block.
template <Element T>
void transpose_four(const T* x, int64_t row_stride, float* out) {
  const Four row0 = load_four(x);
  const Four row1 = load_four(x + row_stride);
  const Four row2 = load_four(x + 2 * row_stride);
  const Four row3 = load_four(x + 3 * row_stride);
  constexpr FourPlaces kLow = {0, 4, 1, 5};
  constexpr FourPlaces kHigh = {2, 6, 3, 7};
  constexpr FourPlaces kFirst = {0, 1, 4, 5};
  constexpr FourPlaces kSecond = {2, 3, 6, 7};
  const Four low01 = __builtin_shuffle(row0, row1, kLow);
  const Four high01 = __builtin_shuffle(row0, row1, kHigh);
  const Four low23 = __builtin_shuffle(row2, row3, kLow);
  const Four high23 = __builtin_shuffle(row2, row3, kHigh);
  const Four columns[4] = {__builtin_shuffle(low01, low23, kFirst),
                           __builtin_shuffle(low01, low23, kSecond),
                           __builtin_shuffle(high01, high23, kFirst),
                           __builtin_shuffle(high01, high23, kSecond)};
  for (int64_t column = 0; column < 4; ++column) {
    std::memcpy(out + column * kKeyBlock, &columns[column], sizeof(Four));
  }
}

/// Calls body(first, count) for each strip of [0, rows).
template <class Body>
void each_strip(int64_t rows, const Body& body) {
  for (int64_t row = 0; row < rows; row += kStripRows) {
    body(row, std::min(kStripRows, rows - row));
  }
}

/// Of keys [block, block + kKeyBlock), how many some row of the strip that ends before `row_end`
/// sees.
int64_t seen_in_block(const CausalTile& tile, int64_t row_end, int64_t block) {
  return std::min(kKeyBlock, tile.first + row_end - block);
}

}  // namespace

int64_t transposed_floats(int64_t rows, int64_t head_dim) {
  return (rows + kKeyBlock - 1) / kKeyBlock * kKeyBlock * head_dim;
}

template <Element T>
void pack_transposed(
    int64_t rows, int64_t head_dim, const T* x, int64_t row_stride, float* packed) {
  for (int64_t block = 0; block < rows; block += kKeyBlock) {
    float* out = packed + block * head_dim;
    const T* in = x + block * row_stride;
    const int64_t count = std::min(kKeyBlock, rows - block);
    const int64_t whole_rows = count / 4 * 4;
    const int64_t whole_columns = head_dim / 4 * 4;
    for (int64_t row = 0; row < whole_rows; row += 4) {
      for (int64_t i = 0; i < whole_columns; i += 4) {
        transpose_four(in + row * row_stride + i, row_stride, out + i * kKeyBlock + row);
      }
    }
    for (int64_t row = 0; row < count; ++row) {
      for (int64_t i = row < whole_rows ? whole_columns : 0; i < head_dim; ++i) {
        out[i * kKeyBlock + row] = widen(in[row * row_stride + i]);
      }
    }
  }
}

template <Element T>
void pack_rows(int64_t rows, int64_t head_dim, const T* x, int64_t row_stride, float* packed) {
  if constexpr (std::same_as<T, BFloat16>) {
    widen_rows(rows, head_dim, x, row_stride, packed, head_dim);
  } else {
    for (int64_t row = 0; row < rows; ++row) {
      std::copy_n(x + row * row_stride, head_dim, packed + row * head_dim);
    }
  }
}

template void pack_transposed(int64_t, int64_t, const float*, int64_t, float*);
template void pack_transposed(int64_t, int64_t, const BFloat16*, int64_t, float*);
template void pack_rows(int64_t, int64_t, const float*, int64_t, float*);
template void pack_rows(int64_t, int64_t, const BFloat16*, int64_t, float*);

CausalProducts::CausalProducts(int64_t head_dim)
    : CausalProducts(head_dim, strip_product_is_fast()) {}

void CausalProducts::scores(const CausalTile& tile,
                            const float* x,
                            int64_t x_row,
                            const float* y_transposed,
                            float* scores) const {
  for (int64_t block = 0; block < tile.keys; block += kKeyBlock) {
    const float* y = y_transposed + block * head_dim_;
    if (!strips_) {
      matmul(DType::kFloat32,
             1,
             tile.rows,
             std::min(kKeyBlock, tile.keys - block),
             head_dim_,
             rows_of(x, x_row),
             rows_of(y, kKeyBlock),
             result_at(scores + block, tile.row_stride),
             /*accumulate=*/false);
      continue;
    }
    each_strip(tile.rows, [&](int64_t row, int64_t count) {
      strip_product({.rows = count,
                     .columns = seen_in_block(tile, row + count, block),
                     .terms = head_dim_,
                     .a = x + row * x_row,
                     .a_row = x_row,
                     .a_term = 1,
                     .b = y,
                     .b_row = kKeyBlock,
                     .c = scores + row * tile.row_stride + block,
                     .c_row = tile.row_stride,
                     .accumulate = false});
    });
  }
}

void CausalProducts::rows(const CausalTile& tile,
                          const float* scores,
                          const float* y,
                          float* out,
                          int64_t out_row) const {
  if (!strips_) {
    matmul(DType::kFloat32,
           1,
           tile.rows,
           head_dim_,
           tile.keys,
           rows_of(scores, tile.row_stride),
           rows_of(y, head_dim_),
           result_at(out, out_row),
           /*accumulate=*/false);
    return;
  }
  // A block of y at a time stays in the first cache for all strips.
  for (int64_t block = 0; block < tile.keys; block += kKeyBlock) {
    each_strip(tile.rows, [&](int64_t row, int64_t count) {
      const int64_t seen = seen_in_block(tile, row + count, block);
      if (seen > 0) {
        strip_product({.rows = count,
                       .columns = head_dim_,
                       .terms = seen,
                       .a = scores + row * tile.row_stride + block,
                       .a_row = tile.row_stride,
                       .a_term = 1,
                       .b = y + block * head_dim_,
                       .b_row = head_dim_,
                       .c = out + row * out_row,
                       .c_row = out_row,
                       .accumulate = block > 0});
      }
    });
  }
}

void CausalProducts::keys(const CausalTile& tile,
                          const float* scores,
                          const float* x,
                          float* out,
                          int64_t out_row,
                          bool accumulate) const {
  if (!strips_) {
    matmul(DType::kFloat32,
           1,
           tile.keys,
           head_dim_,
           tile.rows,
           {.data = scores, .row_stride = 1, .column_stride = tile.row_stride},
           rows_of(x, head_dim_),
           result_at(out, out_row),
           accumulate);
    return;
  }
  each_strip(tile.keys, [&](int64_t key, int64_t count) {
    const int64_t row = std::max<int64_t>(0, key - tile.first);  // the first that sees the strip
    strip_product({.rows = count,
                   .columns = head_dim_,
                   .terms = tile.rows - row,
                   .a = scores + row * tile.row_stride + key,
                   .a_row = 1,
                   .a_term = tile.row_stride,
                   .b = x + row * head_dim_,
                   .b_row = head_dim_,
                   .c = out + key * out_row,
                   .c_row = out_row,
                   .accumulate = accumulate});
  });
}

}  // namespace brigade::kernels
