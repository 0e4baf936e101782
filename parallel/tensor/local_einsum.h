// SPDX-License-Identifier: Apache-2.0
/// Two-operand einsum of plain tensors, as one batched matrix product through the seam. No
/// autograd.
#pragma once

#include <string_view>

#include <ATen/core/Tensor.h>

#include "parallel/tensor/matmul.h"

namespace brigade::tensor {

/// The three index lists of "ab,bc->ac".
struct Equation {
  std::string_view a;
  std::string_view b;
  std::string_view out;
};
Equation split_equation(std::string_view equation);

/// Result in row-major order of `out`'s indices, in the operands' dtype. Every index of `out` is in
/// an operand; every index that is not in `out` is in both.
at::Tensor local_einsum(const MatmulTable& table,
                        const Equation& equation,
                        const at::Tensor& a,
                        const at::Tensor& b);

}  // namespace brigade::tensor
