// SPDX-License-Identifier: Apache-2.0
/// Elementwise ops.
#pragma once

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// a + b, shapes equal or broadcast. Linear: equal unreduced sets pass.
ShardedTensor add(const ShardedTensor& a, const ShardedTensor& b);

/// silu(gate) * up, fused forward and backward; shapes equal [..., f].
ShardedTensor silu_gate(const ShardedTensor& gate, const ShardedTensor& up);

}  // namespace brigade::tensor
