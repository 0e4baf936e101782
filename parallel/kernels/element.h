// SPDX-License-Identifier: Apache-2.0
/// The element types that kernels read and write; whatever the type, they compute in float.
///
///   template <class T>
///   [[gnu::always_inline]] inline void twice(const T* x, T* y, int64_t i) {
///     y[i] = narrow<T>(2.0F * widen(x[i]));
///   }
///
/// Rounded to nearest even.
#pragma once

#include <concepts>
#include <cstdint>

#include "parallel/base/bf16.h"

namespace brigade::kernels {

/// An element of a bf16 tensor: the upper half of a float.
struct BFloat16 {
  uint16_t bits;

  bool operator==(const BFloat16&) const = default;
};

template <class T>
concept Element = std::same_as<T, float> || std::same_as<T, BFloat16>;

[[gnu::always_inline]] inline float widen(float x) {
  return x;
}

[[gnu::always_inline]] inline float widen(BFloat16 x) {
  return bf16_to_float(x.bits);
}

template <Element T>
[[gnu::always_inline]] inline T narrow(float x) {
  if constexpr (std::same_as<T, float>) {
    return x;
  } else {
    return {float_to_bf16(x)};
  }
}

}  // namespace brigade::kernels
