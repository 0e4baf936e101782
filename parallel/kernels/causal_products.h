// SPDX-License-Identifier: Apache-2.0
/// The three matrix products of causal attention on a tile of rows, without the half that the mask
/// hides: scores from rows and keys, rows from scores and keys, keys from scores and rows.
///
/// A head's rows are [n, head_dim] with any distance; what stands on the right of a product is
/// packed first, once for all tiles: rows beside each other, or transposed in blocks of kKeyBlock.
/// Packed rows of more than one stride would share a few cache sets. Packing widens bf16: products
/// are of floats.
///
///   pack_transposed(keys, head_dim, k, k_row, packed);
///   products.scores(tile, q, q_row, packed, s);   // s = q k^T, then softmax
///
/// By strips of rows (strip_product.h) where those are fast: exact about what is hidden. Else by
/// oneDNN on whole tiles. What a row does not see of the scores is left undefined by scores() and
/// has to be 0 for the others.
/// Thread safety: distinct outputs, safe.
#pragma once

#include <cstdint>

#include "parallel/kernels/causal_softmax.h"
#include "parallel/kernels/element.h"

namespace brigade::kernels {

inline constexpr int64_t kKeyBlock = 64;

/// Floats of pack_transposed's result.
int64_t transposed_floats(int64_t rows, int64_t head_dim);

/// [rows, head_dim] -> blocks of kKeyBlock rows, each [head_dim, kKeyBlock].
template <Element T>
void pack_transposed(int64_t rows, int64_t head_dim, const T* x, int64_t row_stride, float* packed);

/// [rows, head_dim], no gaps.
template <Element T>
void pack_rows(int64_t rows, int64_t head_dim, const T* x, int64_t row_stride, float* packed);

class CausalProducts {
 public:
  explicit CausalProducts(int64_t head_dim);  ///< whichever is faster here
  CausalProducts(int64_t head_dim, bool strips) : head_dim_(head_dim), strips_(strips) {}

  /// scores [rows, keys] = x [rows, head_dim] y^T, y [keys, head_dim] packed transposed.
  void scores(const CausalTile& tile,
              const float* x,
              int64_t x_row,
              const float* y_transposed,
              float* scores) const;

  /// out [rows, head_dim] = scores y, y [keys, head_dim] packed.
  void rows(const CausalTile& tile,
            const float* scores,
            const float* y,
            float* out,
            int64_t out_row) const;

  /// out [keys, head_dim] = scores^T x, or += if `accumulate`; x [rows, head_dim] packed.
  void keys(const CausalTile& tile,
            const float* scores,
            const float* x,
            float* out,
            int64_t out_row,
            bool accumulate) const;

 private:
  int64_t head_dim_;
  bool strips_;
};

}  // namespace brigade::kernels
