// SPDX-License-Identifier: Apache-2.0
/// Rotary positions and causal grouped-query attention.
///
/// Legend: B batch, S sequence, H query heads, G key-value heads, K head size. Heads are merged
/// with K in the last dim and sharded by whole heads; S is not sharded.
#pragma once

#include <cstdint>

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// cos and sin of position times frequency, theta^(-2i/K), for the half-split form: two tensors [S,
/// K/2], fp32.
struct RotaryTable {
  at::Tensor cosine;
  at::Tensor sine;
};
RotaryTable rotary_table(int64_t sequence, int64_t head_size, double theta);

/// Rotates each head of x_BS(HK) by its position (Su et al., 2021; the halves of a head are the
/// pairs).
ShardedTensor rotary(const ShardedTensor& x, const RotaryTable& table, int64_t head_size);

/// softmax(q k^T / sqrt(K), masked to the past) v: q_BS(HK), k_BS(GK), v_BS(GK) -> BS(HK). H is a
/// multiple of G. Composed of matrix products up to sequences of kComposedAttentionLimit (keeps
/// BHSS probabilities), libtorch's flash kernel beyond.
ShardedTensor causal_attention(const ShardedTensor& q,
                               const ShardedTensor& k,
                               const ShardedTensor& v,
                               int64_t head_size);

inline constexpr int64_t kComposedAttentionLimit = 1024;

}  // namespace brigade::tensor
