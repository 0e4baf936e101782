// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/map.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

const Op kStep = [](const auto& of) {
  return map([](const at::Tensor& weight,
                const at::Tensor& gradient) { return weight - 0.1 * gradient.sign() * weight; },
             of[0],
             of[1]);
};

TEST(Map, RunsAFormulaOnEqualTypes) {
  expect_equal_to_libtorch(
      {{"x1", {"5,3", "5,3"}}, {"x2", {"5@x,3", "5@x,3"}}, {"x2,y4", {"5{R:x,y}", "5{R:x,y}"}}},
      kStep,
      [](const auto& of) { return of[0] - 0.1 * of[1].sign() * of[0]; });
}

TEST(Map, TakesItsResultsElementType) {
  const Op op = [](const auto& of) {
    return map([](const at::Tensor& x) { return x.to(at::kBFloat16); }, of[0]);
  };
  EXPECT_EQ(type_of({"x2", {"5@x,3"}}, op), "bf16[5@x,3]");
}

TEST(Map, RefusesOperandsOfOtherTypes) {
  EXPECT_EQ(refusal_of({"x2", {"4@x", "4"}}, kStep),
            "map: expected operands of one shape and spec, found f32[4@x] and f32[4]; reshard one "
            "of them");
  EXPECT_NE(refusal_of({"x2", {"4", "4,1"}}, kStep), "");
}

TEST(Map, RefusesUnfinishedSums) {
  EXPECT_EQ(refusal_of({"x2", {"4{U:x}", "4{U:x}"}}, kStep),
            "map: f32[4]{U:x} holds an unfinished sum; reshard it to finish the sum");
}

TEST(Map, RefusesAResultOfAnotherShape) {
  const Op op = [](const auto& of) {
    return map([](const at::Tensor& x) { return x.sum(); }, of[0]);
  };
  EXPECT_EQ(refusal_of({"x1", {"4"}}, op),
            "map: expected a local result of shape (4), as the operands have, found (); work on "
            "parts of other shapes in shard_map");
}

}  // namespace
}  // namespace brigade::tensor
