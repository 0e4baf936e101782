// SPDX-License-Identifier: Apache-2.0
/// Rotary positions (Su et al., 2021) in the half-split form: element i of a head turns with
/// element i + K/2.
///
/// Legend: B batch, S sequence, H heads, K head size. Heads are merged with K in the last dim and
/// sharded by whole heads.
#pragma once

#include <cstdint>

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// cos and sin of position times theta^(-2i/K): two tensors [S, K/2], fp32, equal on all ranks.
struct RotaryTable {
  at::Tensor cosine;
  at::Tensor sine;
};
RotaryTable rotary_table(int64_t sequence, int64_t head_size, double theta);

/// Turns each head of x_BS(HK) by its position; S is not sharded.
///
/// Collective: never.
/// Errors:     kType where S is sharded, a head is cut, or a sum is unfinished. Thrown as
///             Exception.
ShardedTensor rotary(const ShardedTensor& x, const RotaryTable& table, int64_t head_size);

}  // namespace brigade::tensor
