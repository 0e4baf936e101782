// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/rows.h"

#include <vector>

#include <ATen/ATen.h>

namespace brigade::tensor {
namespace {

constexpr int64_t kConflictBytes = 4096;
constexpr int64_t kCacheLineBytes = 64;

/// [..., width] as two dims, without a copy where strides allow.
at::Tensor two_dims(const at::Tensor& tensor) {
  const int64_t width = tensor.dim() == 0 ? 1 : tensor.size(-1);
  const int64_t count = width == 0 ? 0 : tensor.numel() / width;
  const at::Tensor rows = tensor.reshape({count, width});
  return width <= 1 || rows.stride(1) == 1 ? rows : rows.contiguous();
}

}  // namespace

at::Tensor empty_rows(at::IntArrayRef sizes, const at::TensorOptions& options) {
  const auto item = static_cast<int64_t>(options.dtype().itemsize());
  if (sizes.size() < 2 || sizes.back() == 0 || sizes.back() * item % kConflictBytes != 0) {
    return at::empty(sizes, options);
  }
  std::vector<int64_t> strides(sizes.size(), 1);
  int64_t distance = sizes.back() + kCacheLineBytes / item;
  for (size_t dim = sizes.size() - 1; dim-- > 0;) {
    strides[dim] = distance;
    distance *= sizes[dim];
  }
  return at::empty_strided(sizes, strides, options);
}

template <kernels::Element T>
Rows<T>::Rows(const at::Tensor& tensor)
    : rows_(two_dims(tensor)), data_(static_cast<T*>(rows_.mutable_data_ptr())) {}

template class Rows<float>;
template class Rows<kernels::BFloat16>;

}  // namespace brigade::tensor
