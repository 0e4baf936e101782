// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/buffers.h"

#include <ATen/ATen.h>

#include "parallel/base/check.h"

namespace brigade::tensor {

DType dtype_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat: return DType::kFloat32;
    case at::kBFloat16: return DType::kBFloat16;
    case at::kDouble: return DType::kFloat64;
    case at::kLong: return DType::kInt64;
    case at::kInt: return DType::kInt32;
    case at::kByte: return DType::kUInt8;
    case at::kBool: return DType::kBool;
    default: BRIGADE_CHECK(false, "no such element type in messages:", tensor.scalar_type());
  }
}

at::ScalarType scalar_type_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return at::kFloat;
    case DType::kBFloat16: return at::kBFloat16;
    case DType::kFloat64: return at::kDouble;
    case DType::kInt64: return at::kLong;
    case DType::kInt32: return at::kInt;
    case DType::kUInt8: return at::kByte;
    case DType::kBool: return at::kBool;
  }
  BRIGADE_CHECK(false, static_cast<int>(dtype));
}

at::Tensor shape_alone(at::IntArrayRef sizes, const at::TensorOptions& options) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  return at::zeros({1}, options).expand(sizes);
}

collective::Span bytes_of(const at::Tensor& tensor) {
  BRIGADE_CHECK(tensor.is_contiguous() && tensor.device().is_cpu(), tensor.sizes());
  return {static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()};
}

}  // namespace brigade::tensor
