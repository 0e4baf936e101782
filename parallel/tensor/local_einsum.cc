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
  left_ = {order_of(equation.a, role.batch + role.rows + role.contracted),
           role.batch.size(),
           role.rows.size(),
           role.contracted.size()};
  right_ = {order_of(equation.b, role.batch + role.contracted + role.columns),
            role.batch.size(),
            role.contracted.size(),
            role.columns.size()};
  const std::string made = role.batch + role.rows + role.columns;
  for (const char index : made) {
    const bool in_a = has(equation.a, index);
    made_.push_back({in_a, static_cast<int64_t>((in_a ? equation.a : equation.b).find(index))});
  }
  out_order_ = order_of(made, equation.out);
}

/// A view where strides allow.
at::Tensor EinsumRecipe::three_dims(const at::Tensor& tensor, const Side& side) {
  const at::Tensor ordered = side.order.empty() ? tensor : tensor.permute(side.order);
  const at::IntArrayRef sizes = ordered.sizes();
  return ordered.reshape({product(sizes, 0, side.first),
                          product(sizes, side.first, side.second),
                          product(sizes, side.first + side.second, side.third)});
}

at::Tensor EinsumRecipe::operator()(const MatmulTable& table,
                                    const at::Tensor& a,
                                    const at::Tensor& b) const {
  const at::Tensor left = three_dims(a, left_);
  const at::Tensor right = three_dims(b, right_);
  at::Tensor result = at::empty({left.size(0), left.size(1), right.size(2)}, a.options());
  matmul_into(table, left, right, result, /*accumulate=*/false);
  std::vector<int64_t> shape;
  shape.reserve(made_.size());
  for (const Made& dim : made_) {
    shape.push_back((dim.in_a ? a : b).size(dim.dim));
  }
  const at::Tensor shaped = result.view(shape);
  return out_order_.empty() ? shaped : shaped.permute(out_order_).contiguous();
}

const EinsumRecipes& einsum_recipes(std::string_view equation) {
  static std::mutex mutex;
  static std::map<std::string, EinsumRecipes, std::less<>> known;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = known.find(equation);
  if (found != known.end()) {
    return found->second;
  }
  const Equation parts = split_equation(equation);
  return known
      .emplace(std::string(equation),
               EinsumRecipes{EinsumRecipe(parts),
                             EinsumRecipe({parts.out, parts.b, parts.a}),
                             EinsumRecipe({parts.out, parts.a, parts.b})})
      .first->second;
}

}  // namespace brigade::tensor
