// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/unary.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/tensor/ops/elementwise.h"
#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

const std::vector<Placed> kPlacements = {{"x1", {"5,3"}},
                                         {"x2", {"5@x,3"}},
                                         {"x2", {"4{R:x}"}},
                                         {"x4", {"3@x,2"}},
                                         {"x8", {"11@x"}},
                                         {"x2,y4", {"3@x,9@y"}},
                                         {"x3,y2", {"7@(x,y),2"}}};

/// Of one operand.
void expect_unary(ShardedTensor (*op)(const ShardedTensor&),
                  at::Tensor (*truth)(const at::Tensor&)) {
  expect_equal_to_libtorch(
      kPlacements,
      [&](const auto& of) { return op(of[0]); },
      [&](const auto& of) { return truth(of[0]); });
}

/// Of one operand made positive.
void expect_positive(ShardedTensor (*op)(const ShardedTensor&),
                     at::Tensor (*truth)(const at::Tensor&)) {
  expect_equal_to_libtorch(
      kPlacements,
      [&](const auto& of) { return op(square(of[0]) + 0.5); },
      [&](const auto& of) { return truth(at::square(of[0]) + 0.5); });
}

TEST(Unary, EqualsLibtorchOnEveryMesh) {
  expect_unary(exp, at::exp);
  expect_unary(sin, at::sin);
  expect_unary(cos, at::cos);
  expect_unary(tanh, at::tanh);
  expect_unary(sigmoid, at::sigmoid);
  expect_unary(silu, at::silu);
  expect_unary(relu, at::relu);
  expect_unary(abs, at::abs);
  expect_unary(square, at::square);
  expect_unary(negate, at::neg);
}

TEST(Unary, EqualsLibtorchOnPositiveNumbers) {
  expect_positive(log, at::log);
  expect_positive(sqrt, at::sqrt);
  expect_positive(rsqrt, at::rsqrt);
  expect_positive(reciprocal, at::reciprocal);
}

TEST(Unary, KnowsBothFormsOfGelu) {
  for (const GeluForm form : {GeluForm::kErf, GeluForm::kTanh}) {
    expect_equal_to_libtorch(
        kPlacements,
        [&](const auto& of) { return gelu(of[0], form); },
        [&](const auto& of) { return at::gelu(of[0], form == GeluForm::kErf ? "none" : "tanh"); });
  }
}

TEST(Unary, RaisesToAPower) {
  expect_equal_to_libtorch(
      kPlacements,
      [](const auto& of) { return pow(of[0], 3); },
      [](const auto& of) { return at::pow(of[0], 3); });
}

TEST(Unary, NegatesUnfinishedSumsInRowE10) {
  const Op op = [](const auto& of) { return negate(of[0]); };
  expect_equal_to_libtorch({{"x2", {"5{U:x}"}}, {"x2,y3", {"4@x,2{U:y}"}}}, op, [](const auto& of) {
    return at::neg(of[0]);
  });
  EXPECT_EQ(type_of({"x2", {"5{U:x}"}}, op), "f32[5]{U:x}");
}

TEST(Unary, RefusesUnfinishedSumsInRowE10) {
  EXPECT_EQ(refusal_of({"x2", {"5{U:x}"}}, [](const auto& of) { return sin(of[0]); }),
            "sin: operand 0 f32[5]{U:x} is unreduced over x, which only linear ops let through; "
            "reshard it to finish the sum");
  EXPECT_EQ(refusal_of({"x2", {"5{Umax:x}"}}, [](const auto& of) { return negate(of[0]); }),
            "negate: operand 0 f32[5]{Umax:x} holds terms of a max over x, which only a max lets "
            "through; reshard it to finish the max");
}

TEST(Unary, RefusesWholeNumbersWhereFloatsAreAskedFor) {
  EXPECT_EQ(refusal_of({"x2", {"i64[4@x]"}}, [](const auto& of) { return exp(of[0]); }),
            "exp: expected floats, found i64[4@x]; cast it with to()");
  expect_equal_to_libtorch(
      {{"x2", {"i64[5@x]"}}},
      [](const auto& of) { return abs(of[0]); },
      [](const auto& of) { return at::abs(of[0]); });
}

TEST(Unary, ConvertsElementsAndTheirGradients) {
  for (const DType dtype : {DType::kFloat64, DType::kBFloat16}) {
    expect_equal_to_libtorch(
        {{"x2", {"5@x,2"}}, {"x2", {"5,2{R:x}"}}, {"x1", {"4"}}},
        [&](const auto& of) { return to(of[0], dtype); },
        [&](const auto& of) {
          return of[0].to(dtype == DType::kFloat64 ? at::kDouble : at::kBFloat16);
        },
        dtype == DType::kFloat64 ? 1e-5 : 1e-2);  // terms of the cotangent are rounded too
  }
  EXPECT_EQ(type_of({"x2", {"5{U:x}"}}, [](const auto& of) { return to(of[0], DType::kFloat64); }),
            "f64[5]{U:x}");
  EXPECT_EQ(type_of({"x2", {"5{R:x}"}}, [](const auto& of) { return to(of[0], DType::kInt64); }),
            "i64[5]");
  EXPECT_NE(refusal_of({"x2", {"5{U:x}"}}, [](const auto& of) { return to(of[0], DType::kInt64); }),
            "");
}

TEST(Unary, StopsGradientsOfAnyType) {
  for (const char* type : {"5@x", "5{U:x}", "5{R:x}", "5{Umax:x}"}) {
    const Op op = [](const auto& of) {
      const ShardedTensor stopped = stop_gradient(of[0]);
      EXPECT_FALSE(stopped.local().requires_grad());
      EXPECT_EQ(stopped.type(), of[0].type());
      EXPECT_TRUE(at::equal(stopped.local(), of[0].local()));
      return stopped;
    };
    EXPECT_EQ(refusal_of({"x2", {type}}, op), "");
  }
}

TEST(Unary, CommunicatesInNeitherPass) {
  EXPECT_EQ(ledger_of({"x2,y2", {"4@x,2{R:y}"}}, [](const auto& of) { return tanh(of[0]); }), "");
}

TEST(Unary, PlansOnceForEachType) {
  on_mesh("x2", [](Program& program) {
    const ShardedTensor x = place(program, numbers({4}, 0), sharding::PartitionSpec({{"x"}}));
    (void)exp(x);
    const int64_t planned = program.plans_made();
    (void)exp(exp(x));
    EXPECT_EQ(program.plans_made(), planned);
  });
}

TEST(Unary, GeluInBf16IsTheFloatOpRounded) {
  for (const GeluForm form : {GeluForm::kTanh, GeluForm::kErf}) {
    expect_bf16_rounds_float({{"x1", {"5,33"}}, {"x2", {"5,33@x"}}},
                             [&](const auto& of) { return gelu(of[0], form); });
  }
}

}  // namespace
}  // namespace brigade::tensor
