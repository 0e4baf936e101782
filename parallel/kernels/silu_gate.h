// SPDX-License-Identifier: Apache-2.0
/// The gate of a SwiGLU feed-forward layer: y = silu(gate) * up, with silu(g) = g * sigmoid(g).
///
/// All arrays are flat [n]; a call does elements [begin, end). One arithmetic for every element:
/// splitting the range changes no bit. Outputs may be inputs of the same call. In bf16 each output
/// is rounded once.
/// Thread safety: calls whose output ranges are disjoint, safe.
#pragma once

#include <cstdint>

#include "parallel/kernels/element.h"

namespace brigade::kernels {

/// y = silu(gate) * up.
template <Element T>
void silu_gate_forward(const T* gate, const T* up, T* y, int64_t begin, int64_t end);

/// dgate and dup from dy; the sigmoid is computed again from `gate`.
template <Element T>
void silu_gate_backward(
    const T* gate, const T* up, const T* dy, T* dgate, T* dup, int64_t begin, int64_t end);

}  // namespace brigade::kernels
