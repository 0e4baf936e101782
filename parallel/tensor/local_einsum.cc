// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/local_einsum.h"

#include <string>
#include <vector>

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

/// Dims in the order of `indices`.
at::Tensor arrange(const at::Tensor& tensor, std::string_view from, const std::string& indices) {
  std::vector<int64_t> order;
  for (const char index : indices) {
    order.push_back(static_cast<int64_t>(from.find(index)));
  }
  return tensor.permute(order);
}

int64_t product(at::IntArrayRef sizes, size_t begin, size_t count) {
  int64_t result = 1;
  for (size_t i = begin; i < begin + count; ++i) {
    result *= sizes[i];
  }
  return result;
}

/// [first..., second..., third...] as three dims; a view where strides allow.
at::Tensor three_dims(const at::Tensor& tensor, size_t first, size_t second, size_t third) {
  const at::IntArrayRef sizes = tensor.sizes();
  return tensor.reshape({product(sizes, 0, first),
                         product(sizes, first, second),
                         product(sizes, first + second, third)});
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

at::Tensor local_einsum(const MatmulTable& table,
                        const Equation& equation,
                        const at::Tensor& a,
                        const at::Tensor& b) {
  const Roles role = roles(equation);
  const at::Tensor left = arrange(a, equation.a, role.batch + role.rows + role.contracted);
  const at::Tensor right = arrange(b, equation.b, role.batch + role.contracted + role.columns);
  const at::Tensor left3 =
      three_dims(left, role.batch.size(), role.rows.size(), role.contracted.size());
  const at::Tensor right3 =
      three_dims(right, role.batch.size(), role.contracted.size(), role.columns.size());
  at::Tensor product3 = at::empty({left3.size(0), left3.size(1), right3.size(2)}, a.options());
  matmul_into(table, left3, right3, product3, /*accumulate=*/false);

  std::vector<int64_t> shape;
  const std::string made = role.batch + role.rows + role.columns;
  for (const char index : made) {
    const bool in_a = has(equation.a, index);
    shape.push_back(in_a ? a.size(static_cast<int64_t>(equation.a.find(index)))
                         : b.size(static_cast<int64_t>(equation.b.find(index))));
  }
  const at::Tensor shaped = product3.view(shape);
  return made == equation.out ? shaped
                              : arrange(shaped, made, std::string(equation.out)).contiguous();
}

}  // namespace brigade::tensor
