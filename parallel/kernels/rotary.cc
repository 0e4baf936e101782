// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/rotary.h"

#include <cmath>

#include "parallel/base/check.h"
#include "parallel/kernels/dispatch.h"

namespace brigade::kernels {
namespace {

/// Turns rows [begin, end) by `direction` (1 or -1, an exact factor) times their angles.
template <Element T>
[[gnu::always_inline]] inline void turn(const RotaryShape& shape,
                                        const T* x,
                                        const float* cosines,
                                        const float* sines,
                                        float direction,
                                        T* y,
                                        int64_t begin,
                                        int64_t end) {
  const int64_t half = shape.head_dim / 2;
  for (int64_t row = begin; row < end; ++row) {
    const float* cosine = cosines + row % shape.sequence * half;
    const float* sine = sines + row % shape.sequence * half;
    for (int64_t head = 0; head < shape.heads; ++head) {
      const int64_t offset = (row * shape.heads + head) * shape.head_dim;
      const T* x_low = x + offset;
      const T* x_high = x_low + half;
      T* y_low = y + offset;
      T* y_high = y_low + half;
#pragma GCC ivdep
      for (int64_t i = 0; i < half; ++i) {
        const float low = widen(x_low[i]);
        const float high = widen(x_high[i]);
        const float turned = direction * sine[i];
        y_low[i] = narrow<T>(low * cosine[i] - high * turned);
        y_high[i] = narrow<T>(high * cosine[i] + low * turned);
      }
    }
  }
}

}  // namespace

void rotary_table(
    double theta, int64_t head_dim, int64_t first, int64_t count, float* cosines, float* sines) {
  BRIGADE_CHECK(head_dim % 2 == 0, head_dim);
  const int64_t half = head_dim / 2;
  for (int64_t i = 0; i < half; ++i) {
    const double frequency =
        std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(head_dim));
    for (int64_t row = 0; row < count; ++row) {
      const double angle = static_cast<double>(first + row) * frequency;
      cosines[row * half + i] = static_cast<float>(std::cos(angle));
      sines[row * half + i] = static_cast<float>(std::sin(angle));
    }
  }
}

template <Element T>
BRIGADE_CLONES void rotary_forward(const RotaryShape& shape,
                                   const T* x,
                                   const float* cosines,
                                   const float* sines,
                                   T* y,
                                   int64_t begin,
                                   int64_t end) {
  turn(shape, x, cosines, sines, 1.0F, y, begin, end);
}

template <Element T>
BRIGADE_CLONES void rotary_backward(const RotaryShape& shape,
                                    const T* dy,
                                    const float* cosines,
                                    const float* sines,
                                    T* dx,
                                    int64_t begin,
                                    int64_t end) {
  turn(shape, dy, cosines, sines, -1.0F, dx, begin, end);
}

template void rotary_forward(
    const RotaryShape&, const float*, const float*, const float*, float*, int64_t, int64_t);
template void rotary_forward(
    const RotaryShape&, const BFloat16*, const float*, const float*, BFloat16*, int64_t, int64_t);
template void rotary_backward(
    const RotaryShape&, const float*, const float*, const float*, float*, int64_t, int64_t);
template void rotary_backward(
    const RotaryShape&, const BFloat16*, const float*, const float*, BFloat16*, int64_t, int64_t);

}  // namespace brigade::kernels
