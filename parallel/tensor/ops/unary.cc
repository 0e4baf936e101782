// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/unary.h"

#include <string_view>

#include <ATen/ATen.h>

#include "parallel/tensor/buffers.h"
#include "parallel/tensor/ops/apply.h"

namespace brigade::tensor {
namespace {

using sharding::Algebra;

/// Of floats, not linear.
template <class Local>
ShardedTensor of_floats(std::string_view op, const ShardedTensor& x, const Local& local) {
  return apply_to_floats(op, Algebra::kOther, local, x);
}

}  // namespace

ShardedTensor exp(const ShardedTensor& x) {
  return of_floats("exp", x, at::exp);
}

ShardedTensor log(const ShardedTensor& x) {
  return of_floats("log", x, at::log);
}

ShardedTensor sqrt(const ShardedTensor& x) {
  return of_floats("sqrt", x, at::sqrt);
}

ShardedTensor rsqrt(const ShardedTensor& x) {
  return of_floats("rsqrt", x, at::rsqrt);
}

ShardedTensor reciprocal(const ShardedTensor& x) {
  return of_floats("reciprocal", x, at::reciprocal);
}

ShardedTensor sin(const ShardedTensor& x) {
  return of_floats("sin", x, at::sin);
}

ShardedTensor cos(const ShardedTensor& x) {
  return of_floats("cos", x, at::cos);
}

ShardedTensor tanh(const ShardedTensor& x) {
  return of_floats("tanh", x, at::tanh);
}

ShardedTensor sigmoid(const ShardedTensor& x) {
  return of_floats("sigmoid", x, at::sigmoid);
}

ShardedTensor silu(const ShardedTensor& x) {
  return of_floats("silu", x, at::silu);
}

ShardedTensor gelu(const ShardedTensor& x, GeluForm form) {
  const std::string_view approximate = form == GeluForm::kTanh ? "tanh" : "none";
  return of_floats("gelu", x, [&](const at::Tensor& local) {
    return at::gelu(local, {approximate.data(), approximate.size()});
  });
}

ShardedTensor pow(const ShardedTensor& x, double exponent) {
  return of_floats("pow", x, [&](const at::Tensor& local) { return at::pow(local, exponent); });
}

ShardedTensor relu(const ShardedTensor& x) {
  return apply("relu", Algebra::kOther, at::relu, x);
}

ShardedTensor abs(const ShardedTensor& x) {
  return apply("abs", Algebra::kOther, at::abs, x);
}

ShardedTensor square(const ShardedTensor& x) {
  return apply("square", Algebra::kOther, at::square, x);
}

ShardedTensor negate(const ShardedTensor& x) {
  return apply("negate", Algebra::kSum, at::neg, x);
}

ShardedTensor to(const ShardedTensor& x, DType dtype) {
  Program& program = x.program();
  const Planned& planned = program.plan(PlanKey("to", x, dtype), [&] {
    return sharding::plan_unary(program.mesh(), "to", x.type(), Algebra::kSum, dtype);
  });
  return run(
      planned, [&](const at::Tensor& local) { return local.to(scalar_type_of(dtype)); }, x);
}

ShardedTensor stop_gradient(const ShardedTensor& x) {
  return ShardedTensor(x.program(), &x.record(), x.local().detach());
}

}  // namespace brigade::tensor
