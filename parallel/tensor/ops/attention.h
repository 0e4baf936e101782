// SPDX-License-Identifier: Apache-2.0
/// Causal grouped-query attention.
///
/// Legend: B batch, S sequence, H query heads, G key-value heads, K head size. Heads are merged
/// with K in the last dim and sharded by whole heads; S is not sharded.
#pragma once

#include <cstdint>

#include "parallel/base/dtype.h"
#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// softmax(q k^T / sqrt(K), masked to the past) v: q_BS(HK), k_BS(GK), v_BS(GK) -> BS(HK). H is a
/// multiple of G. Composed of matrix products up to sequences of kComposedAttentionLimit (keeps
/// BHSS probabilities), libtorch's flash kernel beyond.
///
/// Collective: never; every rank holds all it needs of its heads.
/// Errors:     kType where q, k and v are not sharded alike, S is sharded, a sum is unfinished, or
///             whole heads do not divide over the ranks. Thrown as Exception.
ShardedTensor causal_attention(const ShardedTensor& q,
                               const ShardedTensor& k,
                               const ShardedTensor& v,
                               int64_t head_size);

inline constexpr int64_t kComposedAttentionLimit = 1024;

/// A rank's piece of an attention.
struct LocalAttention {
  int64_t batch;
  int64_t sequence;
  int64_t query_heads;
  int64_t key_value_heads;
  int64_t head_size;
};

/// What a causal_attention keeps for its backward beside q, k, v and its result, on the CPU:
/// probabilities, or a statistic per row of each head.
int64_t attention_kept_bytes(const LocalAttention& shape, DType dtype);

/// What its backward works in, on one thread, beside the gradients.
int64_t attention_scratch_bytes(const LocalAttention& shape, DType dtype);

}  // namespace brigade::tensor
