// SPDX-License-Identifier: Apache-2.0
/// The gate of a SwiGLU feed-forward layer: y = silu(gate) * up, with silu(g) = g * sigmoid(g).
///
/// All arrays are flat [n]; a call does elements [begin, end). One arithmetic for every element:
/// splitting the range changes no bit. Outputs may be inputs of the same call.
/// Thread safety: calls whose output ranges are disjoint, safe.
#pragma once

#include <cstdint>

namespace brigade::kernels {

/// y = silu(gate) * up.
void silu_gate_forward(const float* gate, const float* up, float* y, int64_t begin, int64_t end);

/// dgate and dup from dy; the sigmoid is computed again from `gate`.
void silu_gate_backward(const float* gate,
                        const float* up,
                        const float* dy,
                        float* dgate,
                        float* dup,
                        int64_t begin,
                        int64_t end);

}  // namespace brigade::kernels
