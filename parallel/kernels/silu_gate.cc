// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/silu_gate.h"

#include "parallel/kernels/dispatch.h"
#include "parallel/kernels/exp.h"

namespace brigade::kernels {

BRIGADE_CLONES void silu_gate_forward(
    const float* gate, const float* up, float* y, int64_t begin, int64_t end) {
#pragma GCC ivdep
  for (int64_t i = begin; i < end; ++i) {
    y[i] = gate[i] * sigmoid(gate[i]).value * up[i];
  }
}

BRIGADE_CLONES void silu_gate_backward(const float* gate,
                                       const float* up,
                                       const float* dy,
                                       float* dgate,
                                       float* dup,
                                       int64_t begin,
                                       int64_t end) {
#pragma GCC ivdep
  for (int64_t i = begin; i < end; ++i) {
    const float g = gate[i];
    const float d = dy[i];
    const float u = up[i];
    const Sigmoid s = sigmoid(g);
    dup[i] = d * (g * s.value);
    dgate[i] = d * u * (s.value * (1.0F + g * s.complement));
  }
}

}  // namespace brigade::kernels
