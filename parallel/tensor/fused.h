// SPDX-License-Identifier: Apache-2.0
/// When a fused kernel of ours may serve an op: all operands fp32, or all bf16, on the CPU; the op
/// sees to it that memory is contiguous. Otherwise each op composes libtorch's.
///
///   if (fusable({x, gain})) {
///     by_element(x, [&](auto element) {
///       using T = decltype(element);
///       kernels::scale(elements<T>(x), elements<T>(gain), mutable_elements<T>(y));
///     });
///   } else {
///     y.copy_(widened(x) * widened(gain));
///   }
#pragma once

#include <initializer_list>

#include <ATen/core/Tensor.h>

#include "parallel/kernels/element.h"

namespace brigade::tensor {

inline bool fusable(std::initializer_list<at::Tensor> tensors) {
  const at::ScalarType type = tensors.begin()->scalar_type();
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.device().is_cpu() || tensor.scalar_type() != type) {
      return false;
    }
  }
  return type == at::kFloat || type == at::kBFloat16;
}

/// Calls body(T()) with the kernels' name for the element type of a fusable tensor.
template <class Body>
void by_element(const at::Tensor& tensor, const Body& body) {
  if (tensor.scalar_type() == at::kBFloat16) {
    body(kernels::BFloat16());
  } else {
    body(float());
  }
}

template <kernels::Element T>
const T* elements(const at::Tensor& tensor) {
  return static_cast<const T*>(tensor.const_data_ptr());
}

template <kernels::Element T>
T* mutable_elements(at::Tensor& tensor) {
  return static_cast<T*>(tensor.mutable_data_ptr());
}

/// bf16 as fp32, for what a composition computes inside an op; anything else as it is.
inline at::Tensor widened(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kBFloat16 ? tensor.to(at::kFloat) : tensor;
}

}  // namespace brigade::tensor
