// SPDX-License-Identifier: Apache-2.0
/// Softmax and its gradient on a tile of causal attention scores: row i sees keys 0 ... first + i.
///
/// x, p, dp: [rows, keys], rows row_stride apart; keys >= first + rows. What a row does not see is
/// written as 0, so that the matrix products that follow may run over whole tiles.
/// Thread safety: distinct outputs, safe.
#pragma once

#include <cstdint>

namespace brigade::kernels {

struct CausalTile {
  int64_t rows;
  int64_t keys;
  int64_t first;  // the first row sees keys 0 ... first
  int64_t row_stride;
};

/// In place: x becomes softmax(scale * x) over what each row sees.
void causal_softmax(const CausalTile& tile, float scale, float* x);

/// In place: dp becomes scale * p * (dp - sum(p * dp)), the gradient of the unscaled scores.
void causal_softmax_backward(const CausalTile& tile, float scale, const float* p, float* dp);

}  // namespace brigade::kernels
