// SPDX-License-Identifier: Apache-2.0
/// Elementwise ops, planned by sharding::plan_elementwise.
///
/// Collective: forward never; backward where a replicated operand meets a split one (its gradient
///             is all-reduced) or an operand was sliced to match (its gradient is all-gathered).
/// Cost:       those two; nothing where both operands are placed alike.
/// Errors:     kType, as sharding::plan_elementwise; the communicator's. Thrown as Exception.
#pragma once

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// a + b, shapes equal or broadcast. Linear: equal unreduced sets pass.
ShardedTensor add(const ShardedTensor& a, const ShardedTensor& b);

/// silu(gate) * up, fused forward and backward; shapes equal [..., f].
ShardedTensor silu_gate(const ShardedTensor& gate, const ShardedTensor& up);

}  // namespace brigade::tensor
