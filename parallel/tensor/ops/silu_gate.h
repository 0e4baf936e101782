// SPDX-License-Identifier: Apache-2.0
/// The gate of a SwiGLU block (Shazeer, 2020), fused.
#pragma once

#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// silu(gate) * up, fused forward and backward; shapes equal [..., f].
///
/// Collective: as mul() of elementwise.h: none where both are placed alike.
/// Errors:     kType for two shapes, else as sharding::plan_elementwise; the communicator's. Thrown
///             as Exception.
ShardedTensor silu_gate(const ShardedTensor& gate, const ShardedTensor& up);

}  // namespace brigade::tensor
