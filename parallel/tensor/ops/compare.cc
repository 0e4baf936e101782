// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/compare.h"

#include <array>
#include <string_view>
#include <vector>

#include <ATen/ATen.h>

#include "parallel/base/text.h"
#include "parallel/tensor/ops/apply.h"

namespace brigade::tensor {
namespace {

using sharding::Algebra;
using OfTensors = at::Tensor (*)(const at::Tensor&, const at::Tensor&);
using OfNumber = at::Tensor (*)(const at::Tensor&, const at::Scalar&);

ShardedTensor test(std::string_view op,
                   OfTensors local,
                   const ShardedTensor& a,
                   const ShardedTensor& b) {
  return apply(op, Algebra::kTest, local, a, b);
}

ShardedTensor test(std::string_view op, OfNumber local, const ShardedTensor& a, double b) {
  Program& program = a.program();
  const Planned& planned = program.plan(PlanKey(op, a), [&] {
    return sharding::plan_unary(program.mesh(), op, a.type(), Algebra::kOther, DType::kBool);
  });
  return run(
      planned, [&](const at::Tensor& x) { return local(x, b); }, a);
}

Result<void> check_mask(const Program& program, std::string_view op, const ShardedTensor& x) {
  if (x.type().dtype != DType::kBool) {
    return fail(ErrorCode::kType,
                concat(op,
                       ": expected masks of bool, found ",
                       x.type().to_string(program.mesh()),
                       "; compare it with a number"));
  }
  return {};
}

ShardedTensor logic(std::string_view op,
                    OfTensors local,
                    const ShardedTensor& a,
                    const ShardedTensor& b) {
  value_or_throw(check_mask(a.program(), op, a));
  value_or_throw(check_mask(a.program(), op, b));
  return apply(op, Algebra::kTest, local, a, b);
}

}  // namespace

ShardedTensor equal(const ShardedTensor& a, const ShardedTensor& b) {
  return test("equal", at::eq, a, b);
}

ShardedTensor equal(const ShardedTensor& a, double b) {
  return test("equal", at::eq, a, b);
}

ShardedTensor not_equal(const ShardedTensor& a, const ShardedTensor& b) {
  return test("not_equal", at::ne, a, b);
}

ShardedTensor not_equal(const ShardedTensor& a, double b) {
  return test("not_equal", at::ne, a, b);
}

ShardedTensor less(const ShardedTensor& a, const ShardedTensor& b) {
  return test("less", at::lt, a, b);
}

ShardedTensor less(const ShardedTensor& a, double b) {
  return test("less", at::lt, a, b);
}

ShardedTensor less_equal(const ShardedTensor& a, const ShardedTensor& b) {
  return test("less_equal", at::le, a, b);
}

ShardedTensor less_equal(const ShardedTensor& a, double b) {
  return test("less_equal", at::le, a, b);
}

ShardedTensor greater(const ShardedTensor& a, const ShardedTensor& b) {
  return test("greater", at::gt, a, b);
}

ShardedTensor greater(const ShardedTensor& a, double b) {
  return test("greater", at::gt, a, b);
}

ShardedTensor greater_equal(const ShardedTensor& a, const ShardedTensor& b) {
  return test("greater_equal", at::ge, a, b);
}

ShardedTensor greater_equal(const ShardedTensor& a, double b) {
  return test("greater_equal", at::ge, a, b);
}

ShardedTensor logical_and(const ShardedTensor& a, const ShardedTensor& b) {
  return logic("logical_and", at::logical_and, a, b);
}

ShardedTensor logical_or(const ShardedTensor& a, const ShardedTensor& b) {
  return logic("logical_or", at::logical_or, a, b);
}

ShardedTensor logical_not(const ShardedTensor& a) {
  value_or_throw(check_mask(a.program(), "logical_not", a));
  return apply("logical_not", Algebra::kOther, at::logical_not, a);
}

ShardedTensor where(const ShardedTensor& mask, const ShardedTensor& a, const ShardedTensor& b) {
  return apply(
      "where",
      Algebra::kChoice,
      [](const std::vector<at::Tensor>& of) { return at::where(of[0], of[1], of[2]); },
      std::array<ShardedTensor, 3>{mask, a, b});
}

}  // namespace brigade::tensor
