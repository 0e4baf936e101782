// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/silu_gate.h"

#include "parallel/kernels/dispatch.h"
#include "parallel/kernels/exp.h"

namespace brigade::kernels {

template <Element T>
BRIGADE_CLONES void silu_gate_forward(
    const T* gate, const T* up, T* y, int64_t begin, int64_t end) {
#pragma GCC ivdep
  for (int64_t i = begin; i < end; ++i) {
    const float g = widen(gate[i]);
    y[i] = narrow<T>(g * sigmoid(g).value * widen(up[i]));
  }
}

template <Element T>
BRIGADE_CLONES void silu_gate_backward(
    const T* gate, const T* up, const T* dy, T* dgate, T* dup, int64_t begin, int64_t end) {
#pragma GCC ivdep
  for (int64_t i = begin; i < end; ++i) {
    const float g = widen(gate[i]);
    const float d = widen(dy[i]);
    const float u = widen(up[i]);
    const Sigmoid s = sigmoid(g);
    dup[i] = narrow<T>(d * (g * s.value));
    dgate[i] = narrow<T>(d * u * (s.value * (1.0F + g * s.complement)));
  }
}

template void silu_gate_forward(const float*, const float*, float*, int64_t, int64_t);
template void silu_gate_forward(const BFloat16*, const BFloat16*, BFloat16*, int64_t, int64_t);
template void silu_gate_backward(
    const float*, const float*, const float*, float*, float*, int64_t, int64_t);
template void silu_gate_backward(
    const BFloat16*, const BFloat16*, const BFloat16*, BFloat16*, BFloat16*, int64_t, int64_t);

}  // namespace brigade::kernels
