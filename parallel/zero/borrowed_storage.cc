// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/borrowed_storage.h"

#include <utility>

#include <ATen/ATen.h>

#include "parallel/base/check.h"

namespace brigade::zero {
namespace {

void swap_memory(const at::Tensor& tensor, at::DataPtr memory, size_t bytes) {
  const at::Storage& storage = tensor.storage();
  storage.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(memory));
  storage.unsafeGetStorageImpl()->set_nbytes(bytes);
}

}  // namespace

void allocate_storage(const at::Tensor& tensor) {
  BRIGADE_CHECK(tensor.is_contiguous() && tensor.storage_offset() == 0);
  const at::Tensor fresh = at::empty(tensor.sizes(), tensor.options().requires_grad(false));
  const size_t bytes = fresh.storage().nbytes();
  swap_memory(tensor, fresh.storage().set_data_ptr(at::DataPtr(nullptr, tensor.device())), bytes);
}

void free_storage(const at::Tensor& tensor) {
  swap_memory(tensor, at::DataPtr(nullptr, tensor.device()), 0);
}

}  // namespace brigade::zero
