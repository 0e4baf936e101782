// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/silu_gate.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using ::testing::HasSubstr;

const Op kGate = [](const auto& of) { return silu_gate(of[0], of[1]); };

TEST(SiluGate, EqualsItsComposition) {
  expect_equal_to_libtorch({{"x1", {"3,19", "3,19"}},
                            {"x2", {"5,2,37@x", "5,2,37@x"}},
                            {"x3", {"5,37@x", "5,37@x"}},
                            {"x2,y3", {"5@x,2,37@y", "5@x,2,37@y"}}},
                           kGate,
                           [](const auto& of) { return at::silu(of[0]) * of[1]; });
}

TEST(SiluGate, RefusesUnfinishedSums) {
  EXPECT_THAT(refusal_of({"x2", {"4{U:x}", "4{U:x}"}}, kGate), HasSubstr("only linear ops"));
}

TEST(SiluGate, RefusesOperandsOfTwoShapes) {
  EXPECT_EQ(refusal_of({"x1", {"3,4", "1,4"}}, kGate),
            "silu_gate needs operands of one shape: f32[3,4] and f32[1,4]");
}

TEST(SiluGate, InBf16IsTheFloatOpRounded) {
  expect_bf16_rounds_float({{"x1", {"3,19", "3,19"}}, {"x2,y3", {"5@x,2,37@y", "5@x,2,37@y"}}},
                           kGate);
}

}  // namespace
}  // namespace brigade::tensor
