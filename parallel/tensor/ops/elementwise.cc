// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/elementwise.h"

#include <cmath>
#include <string_view>

#include <ATen/ATen.h>

#include "parallel/base/text.h"
#include "parallel/tensor/ops/apply.h"

namespace brigade::tensor {
namespace {

using sharding::Algebra;
using OfTensors = at::Tensor (*)(const at::Tensor&, const at::Tensor&);

at::Tensor sum_of(const at::Tensor& a, const at::Tensor& b) {
  return at::add(a, b);
}

at::Tensor difference_of(const at::Tensor& a, const at::Tensor& b) {
  return at::sub(a, b);
}

/// The number as a scalar of the operand's kind, so that libtorch keeps its element type.
at::Scalar number_for(std::string_view op, const ShardedTensor& x, double number) {
  if (is_float(x.type().dtype)) {
    return number;
  }
  if (x.type().dtype == DType::kBool || number != std::floor(number)) {
    throw Exception({ErrorCode::kType,
                     concat(op,
                            ": ",
                            x.type().to_string(x.program().mesh()),
                            " cannot take the number ",
                            number,
                            "; cast it with to()"),
                     -1});
  }
  return static_cast<int64_t>(number);
}

}  // namespace

ShardedTensor add(const ShardedTensor& a, const ShardedTensor& b) {
  return apply("add", Algebra::kSum, sum_of, a, b);
}

ShardedTensor sub(const ShardedTensor& a, const ShardedTensor& b) {
  return apply("sub", Algebra::kSum, difference_of, a, b);
}

ShardedTensor mul(const ShardedTensor& a, const ShardedTensor& b) {
  return apply("mul", Algebra::kProduct, static_cast<OfTensors>(at::mul), a, b);
}

ShardedTensor div(const ShardedTensor& a, const ShardedTensor& b) {
  return apply("div", Algebra::kQuotient, static_cast<OfTensors>(at::div), a, b);
}

ShardedTensor maximum(const ShardedTensor& a, const ShardedTensor& b) {
  return apply("maximum", Algebra::kOther, at::maximum, a, b);
}

ShardedTensor minimum(const ShardedTensor& a, const ShardedTensor& b) {
  return apply("minimum", Algebra::kOther, at::minimum, a, b);
}

ShardedTensor add(const ShardedTensor& a, double b) {
  const at::Scalar number = number_for("add", a, b);
  return apply(
      "add a number",
      Algebra::kOther,
      [&](const at::Tensor& local) { return at::add(local, number); },
      a);
}

ShardedTensor mul(const ShardedTensor& a, double b) {
  const at::Scalar number = number_for("mul", a, b);
  return apply(
      "scale", Algebra::kSum, [&](const at::Tensor& local) { return at::mul(local, number); }, a);
}

ShardedTensor div(const ShardedTensor& a, double b) {
  return apply_to_floats(
      "divide by a number",
      Algebra::kSum,
      [&](const at::Tensor& local) { return at::div(local, b); },
      a);
}

ShardedTensor div(double a, const ShardedTensor& b) {
  return apply_to_floats(
      "divide a number",
      Algebra::kOther,
      [&](const at::Tensor& local) { return at::mul(at::reciprocal(local), a); },
      b);
}

}  // namespace brigade::tensor
