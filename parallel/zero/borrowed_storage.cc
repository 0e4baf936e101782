// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/borrowed_storage.h"

#include <utility>

#include <ATen/ATen.h>

#include "parallel/base/check.h"

namespace brigade::zero {
void allocate_storage(const at::Tensor& tensor) {
  BRIGADE_CHECK(tensor.is_contiguous() && tensor.storage_offset() == 0);
  const at::Tensor fresh = at::empty(tensor.sizes(), tensor.options().requires_grad(false));
  c10::StorageImpl& storage = *tensor.storage().unsafeGetStorageImpl();
  storage.clear_data_ptr_access_error_msg_();
  storage.set_data_ptr_noswap(fresh.storage().set_data_ptr(at::DataPtr(nullptr, tensor.device())));
}

void free_storage(const at::Tensor& tensor, std::string why_it_is_gone) {
  c10::StorageImpl& storage = *tensor.storage().unsafeGetStorageImpl();
  storage.set_data_ptr_noswap(at::DataPtr(nullptr, tensor.device()));  // its size stays: for views
  storage.release_data_and_set_meta_custom_data_ptr_error_msg_(std::move(why_it_is_gone));
}

}  // namespace brigade::zero
