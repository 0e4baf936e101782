// SPDX-License-Identifier: Apache-2.0
/// The memory of a tensor that comes and goes while the tensor stays: autograd, views and saved
/// variables all see it through the one storage. Internal to the module.
#pragma once

#include <string>

#include <ATen/core/Tensor.h>

namespace brigade::zero {

/// Gives `tensor`, contiguous and freed, fresh memory of its size on its device; not initialised.
void allocate_storage(const at::Tensor& tensor);

/// Frees the memory under `tensor` and its views. Until allocate_storage(), whoever asks libtorch
/// for a pointer to it - any of its ops does - gets a c10::Error of this text.
void free_storage(const at::Tensor& tensor, std::string why_it_is_gone);

}  // namespace brigade::zero
