// SPDX-License-Identifier: Apache-2.0
/// Two-operand einsum of plain tensors, as one batched matrix product through the seam. No
/// autograd.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

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

/// What an equation does to dims, worked out once.
class EinsumRecipe {
 public:
  /// Every index of `out` is in an operand; every index that is not in `out` is in both.
  explicit EinsumRecipe(const Equation& equation);

  /// Result in row-major order of `out`'s indices, in the operands' dtype.
  at::Tensor operator()(const MatmulTable& table, const at::Tensor& a, const at::Tensor& b) const;

 private:
  /// Dims of an operand, brought into the order of its three groups.
  struct Side {
    std::vector<int64_t> order;  // empty: as they are
    size_t batch;                // dims in each group
    size_t rows;
    size_t columns;
  };
  /// A dim of the product, as found in an operand.
  struct Made {
    bool in_left;
    int64_t dim;
  };

  static at::Tensor matrices(const at::Tensor& tensor, const Side& side);
  at::Tensor shaped(const at::Tensor& product,
                    const at::Tensor& left,
                    const at::Tensor& right) const;

  bool swapped_;  // b is the left factor: then the product's dims come in the order of `out`
  Side left_;     // batch, rows, contracted
  Side right_;    // batch, contracted, columns
  std::vector<Made> made_;
  std::vector<int64_t> out_order_;  // of the product's dims; empty: as they are
};

/// An equation and its two gradients': each operand's is a product of the result's and the other.
/// What one operand alone has and the result has not is to be summed beforehand.
struct EinsumRecipes {
  std::vector<int64_t> summed_a;  // dims of a, often none
  std::vector<int64_t> summed_b;
  EinsumRecipe forward;
  EinsumRecipe gradient_a;  // (result's gradient, b)
  EinsumRecipe gradient_b;  // (result's gradient, a)
};

/// Interned: one per equation for the life of the process. Thread safety: safe.
const EinsumRecipes& einsum_recipes(std::string_view equation);

}  // namespace brigade::tensor
