// SPDX-License-Identifier: Apache-2.0
/// at::Tensor memory as the byte spans that communicators move.
#pragma once

#include <ATen/core/Tensor.h>

#include "parallel/base/dtype.h"
#include "parallel/collective/communicator.h"

namespace brigade::tensor {

DType dtype_of(const at::Tensor& tensor);
at::ScalarType scalar_type_of(DType dtype);

/// A tensor of these sizes that holds one element: for a history that needs a shape and no values.
at::Tensor shape_alone(at::IntArrayRef sizes, const at::TensorOptions& options);

/// The bytes of a contiguous CPU tensor; CHECKs both.
collective::Span bytes_of(const at::Tensor& tensor);

}  // namespace brigade::tensor
