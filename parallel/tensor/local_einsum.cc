// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/local_einsum.h"

#include <map>
#include <mutex>
#include <string>

#include <ATen/ATen.h>

#include "parallel/base/check.h"

namespace brigade::tensor {
namespace {

bool has(std::string_view indices, char index) {
  return indices.find(index) != std::string_view::npos;
}

/// The indices by the part they play; order follows `out` (contracted: `a`).
struct Roles {
  std::string batch;
  std::string rows;        // of a alone
  std::string columns;     // of b alone
  std::string contracted;  // of both, not of out
};

Roles roles(const Equation& equation) {
  Roles result;
  for (const char index : equation.out) {
    const bool in_a = has(equation.a, index);
    const bool in_b = has(equation.b, index);
    BRIGADE_CHECK(in_a || in_b, equation.a, equation.b, equation.out);
    (in_a && in_b ? result.batch : in_a ? result.rows : result.columns) += index;
  }
  for (const char index : equation.a) {
    if (!has(equation.out, index)) {
      BRIGADE_CHECK(has(equation.b, index), "an index of one operand alone:", index);
      result.contracted += index;
    }
  }
  return result;
}

/// Dims of `from` in the order of `indices`; empty if they are in it.
std::vector<int64_t> order_of(std::string_view from, std::string_view indices) {
  std::vector<int64_t> order;
  for (const char index : indices) {
    order.push_back(static_cast<int64_t>(from.find(index)));
  }
  return from == indices ? std::vector<int64_t>() : order;
}

int64_t product(at::IntArrayRef sizes, size_t begin, size_t count) {
  int64_t result = 1;
  for (size_t i = begin; i < begin + count; ++i) {
    result *= sizes[i];
  }
  return result;
}

/// Dims of `own` that neither `other` nor the result has.
std::vector<int64_t> lone_dims(std::string_view own, std::string_view other, std::string_view out) {
  std::vector<int64_t> dims;
  for (size_t dim = 0; dim < own.size(); ++dim) {
    if (!has(other, own[dim]) && !has(out, own[dim])) {
      dims.push_back(static_cast<int64_t>(dim));
    }
  }
  return dims;
}

/// The letters without those at `dims`.
std::string left_of(std::string_view letters, const std::vector<int64_t>& dims) {
  std::string left(letters);
  for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim) {
    left.erase(static_cast<size_t>(*dim), 1);
  }
  return left;
}

}  // namespace

Equation split_equation(std::string_view equation) {
  const size_t comma = equation.find(',');
  const size_t arrow = equation.find("->");
  BRIGADE_CHECK(comma != std::string_view::npos && arrow != std::string_view::npos && comma < arrow,
                equation);
  return {equation.substr(0, comma),
          equation.substr(comma + 1, arrow - comma - 1),
          equation.substr(arrow + 2)};
}

EinsumRecipe::EinsumRecipe(const Equation& equation) {
  const Roles role = roles(equation);
  // a on the left makes batch, rows, columns; where `out` begins with b's own, b goes there.
  swapped_ = !role.columns.empty() && equation.out == role.batch + role.columns + role.rows;
  const std::string_view left = swapped_ ? equation.b : equation.a;
  const std::string_view right = swapped_ ? equation.a : equation.b;
  const std::string& rows = swapped_ ? role.columns : role.rows;
  const std::string& columns = swapped_ ? role.rows : role.columns;
  left_ = {order_of(left, role.batch + rows + role.contracted),
           role.batch.size(),
           rows.size(),
           role.contracted.size()};
  right_ = {order_of(right, role.batch + role.contracted + columns),
            role.batch.size(),
            role.contracted.size(),
            columns.size()};
  const std::string made = role.batch + rows + columns;
  for (const char index : made) {
    const bool in_left = has(left, index);
    made_.push_back({in_left, static_cast<int64_t>((in_left ? left : right).find(index))});
  }
  out_order_ = order_of(made, equation.out);
}

/// The operand as one matrix, or as a batch of them; a view where strides allow.
at::Tensor EinsumRecipe::matrices(const at::Tensor& tensor, const Side& side) {
  const at::Tensor ordered = side.order.empty() ? tensor : tensor.permute(side.order);
  if (side.batch <= 1 && side.rows == 1 && side.columns == 1) {
    return ordered;
  }
  const at::IntArrayRef sizes = ordered.sizes();
  const int64_t rows = product(sizes, side.batch, side.rows);
  const int64_t columns = product(sizes, side.batch + side.rows, side.columns);
  return side.batch == 0 ? ordered.reshape({rows, columns})
                         : ordered.reshape({product(sizes, 0, side.batch), rows, columns});
}

at::Tensor EinsumRecipe::shaped(const at::Tensor& product,
                                const at::Tensor& left,
                                const at::Tensor& right) const {
  if (left_.batch <= 1 && left_.rows == 1 && right_.columns == 1) {
    return product;  // a dim for each group
  }
  std::vector<int64_t> shape;
  shape.reserve(made_.size());
  for (const Made& dim : made_) {
    shape.push_back((dim.in_left ? left : right).size(dim.dim));
  }
  return product.view(shape);
}

at::Tensor EinsumRecipe::operator()(const MatmulTable& table,
                                    const at::Tensor& a,
                                    const at::Tensor& b) const {
  const at::Tensor& left = swapped_ ? b : a;
  const at::Tensor& right = swapped_ ? a : b;
  const at::Tensor left_matrices = matrices(left, left_);
  const at::Tensor right_matrices = matrices(right, right_);
  const int64_t rows = left_matrices.size(-2);
  const int64_t columns = right_matrices.size(-1);
  at::Tensor result = left_.batch == 0
                          ? at::empty({rows, columns}, a.options())
                          : at::empty({left_matrices.size(0), rows, columns}, a.options());
  matmul_into(table, left_matrices, right_matrices, result, /*accumulate=*/false);
  const at::Tensor made = shaped(result, left, right);
  return out_order_.empty() ? made : made.permute(out_order_).contiguous();
}

const EinsumRecipes& einsum_recipes(std::string_view equation) {
  static std::mutex mutex;
  static std::map<std::string, EinsumRecipes, std::less<>> known;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = known.find(equation);
  if (found != known.end()) {
    return found->second;
  }
  const Equation whole = split_equation(equation);
  const std::vector<int64_t> summed_a = lone_dims(whole.a, whole.b, whole.out);
  const std::vector<int64_t> summed_b = lone_dims(whole.b, whole.a, whole.out);
  const std::string a = left_of(whole.a, summed_a);
  const std::string b = left_of(whole.b, summed_b);
  return known
      .emplace(std::string(equation),
               EinsumRecipes{summed_a,
                             summed_b,
                             EinsumRecipe({a, b, whole.out}),
                             EinsumRecipe({whole.out, b, a}),
                             EinsumRecipe({whole.out, a, b})})
      .first->second;
}

}  // namespace brigade::tensor
