// SPDX-License-Identifier: Apache-2.0
/// When a fused kernel of ours may serve an op: fp32 on the CPU; the op sees to it that memory is
/// contiguous. Otherwise each op composes libtorch's.
#pragma once

#include <initializer_list>

#include <ATen/core/Tensor.h>

namespace brigade::tensor {

inline bool fusable(std::initializer_list<at::Tensor> tensors) {
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.device().is_cpu() || tensor.scalar_type() != at::kFloat) {
      return false;
    }
  }
  return true;
}

}  // namespace brigade::tensor
