// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/layer_norm.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using ::testing::HasSubstr;

const Op kNorm = [](const auto& of) { return layer_norm(of[0], of[1], of[2], 1e-5); };

TEST(LayerNorm, EqualsLibtorchsOnEveryMesh) {
  expect_equal_to_libtorch(
      {{"x1", {"5,7", "7", "7"}},
       {"x2", {"5@x,7", "7{R:x}", "7{R:x}"}},
       {"x2", {"5@x,7", "7", "7"}},
       {"x2", {"5@x,7", "7", "7{R:x}"}},
       {"x8", {"5@x,2,7", "7{R:x}", "7{R:x}"}},
       {"x2,y4", {"5@x,9@y,3", "3{R:x,y}", "3{R:x,y}"}},
       {"x3,y2", {"7@x,3{R:y}", "3{R:x,y}", "3{R:x,y}"}}},
      kNorm,
      [](const auto& of) { return at::layer_norm(of[0], {of[0].size(-1)}, of[1], of[2]); },
      1e-4);
}

TEST(LayerNorm, NeedsNoBias) {
  expect_equal_to_libtorch(
      {{"x2", {"5@x,7", "7{R:x}"}}},
      [](const auto& of) { return layer_norm(of[0], of[1], 1e-5); },
      [](const auto& of) { return at::layer_norm(of[0], {7}, of[1]); },
      1e-4);
}

TEST(LayerNorm, ReducesGradientsOfReplicatedWeightsAlone) {
  EXPECT_EQ(ledger_of({"x2", {"4@x,8", "8{R:x}", "8{R:x}"}}, kNorm), "");
  EXPECT_EQ(ledger_of({"x2", {"4@x,8", "8", "8{R:x}"}}, kNorm), "backward all_reduce x 64");
}

TEST(LayerNorm, RefusesASplitRow) {
  EXPECT_EQ(refusal_of({"x2", {"4,8@x", "8", "8"}}, kNorm),
            "layer_norm needs every row whole, but the last dim is split; reshard() it first: "
            "f32[4,8@x]");
}

TEST(LayerNorm, RefusesWeightsOfAnotherSizeAndUnfinishedSums) {
  EXPECT_THAT(refusal_of({"x1", {"4,8", "1", "8"}}, kNorm), HasSubstr("found f32[1]"));
  EXPECT_THAT(refusal_of({"x1", {"4,8", "8", "4,8"}}, kNorm), HasSubstr("found f32[4,8]"));
  EXPECT_THAT(refusal_of({"x1", {"", "8", "8"}}, kNorm), HasSubstr("has no rows"));
  EXPECT_THAT(refusal_of({"x2", {"4,8{U:x}", "8", "8"}}, kNorm), HasSubstr("is unreduced over x"));
}

TEST(LayerNorm, InBf16IsTheFloatOpRounded) {
  expect_bf16_rounds_float({{"x1", {"6,33", "33", "33"}}}, kNorm);
  expect_bf16_rounds_float({{"x2,y2", {"6@x,4,33", "33{R:x}", "33{R:x}"}}}, kNorm, 6);
}

}  // namespace
}  // namespace brigade::tensor
