// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/dropout.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/tensor/ops/create.h"
#include "tests/parallel/sharding/spelled.h"
#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using ::testing::HasSubstr;

const RandomSource kSource{.seed = 5, .name = "block.0", .step = 2};
const Op kDrop = [](const auto& of) { return dropout(of[0], 0.4, kSource); };

/// What is left of ones, on one rank.
at::Tensor scaled_mask(const sharding::Shape& shape) {
  at::Tensor mask;
  on_mesh("x1", [&](Program& program) {
    mask = dropout(ones(program, {DType::kFloat32, shape, {}}), 0.4, kSource).local();
  });
  return mask;
}

TEST(Dropout, DropsTheSameElementsOnEveryMeshForwardAndBackward) {
  const at::Tensor mask = scaled_mask({5, 9});
  expect_equal_to_libtorch({{"x1", {"5,9"}},
                            {"x2", {"5@x,9"}},
                            {"x2", {"5,9@x"}},
                            {"x2", {"5,9{R:x}"}},
                            {"x2", {"5,9{U:x}"}},
                            {"x8", {"5@x,9"}},
                            {"x2,y4", {"5@x,9@y"}},
                            {"x3,y2", {"5@(x,y),9"}}},
                           kDrop,
                           [&](const auto& of) { return of[0] * mask; });
}

TEST(Dropout, DropsAsManyAsAskedAndScalesTheOthers) {
  const at::Tensor mask = scaled_mask({100, 100});
  EXPECT_NEAR((mask == 0).to(at::kFloat).mean().item<float>(), 0.4, 0.02);
  EXPECT_TRUE(at::allclose(mask.masked_select(mask != 0).mean(), at::tensor(1 / 0.6F)));
}

TEST(Dropout, DependsOnSeedNameAndStep) {
  on_mesh("x1", [](Program& program) {
    const ShardedTensor x = ones(program, sharding::type("100"));
    const at::Tensor once = dropout(x, 0.5, kSource).local();
    EXPECT_TRUE(at::equal(dropout(x, 0.5, kSource).local(), once));
    for (const RandomSource& other : {RandomSource{6, "block.0", 2},
                                      RandomSource{5, "block.1", 2},
                                      RandomSource{5, "block.0", 3}}) {
      EXPECT_FALSE(at::equal(dropout(x, 0.5, other).local(), once));
    }
  });
}

TEST(Dropout, AtRateZeroIsTheTensorItself) {
  on_mesh("x1", [](Program& program) {
    const ShardedTensor x = ones(program, sharding::type("100"));
    EXPECT_TRUE(dropout(x, 0, kSource).local().is_same(x.local()));
  });
}

TEST(Dropout, CommunicatesNothing) {
  EXPECT_EQ(ledger_of({"x2,y2", {"4@x,6{R:y}"}}, kDrop), "");
}

TEST(Dropout, RefusesOtherRatesAndElements) {
  EXPECT_EQ(refusal_of({"x1", {"4"}}, [](const auto& of) { return dropout(of[0], 1, kSource); }),
            "dropout block.0: expected a rate in [0, 1), found 1");
  EXPECT_NE(refusal_of({"x1", {"4"}}, [](const auto& of) { return dropout(of[0], -0.1, kSource); }),
            "");
  EXPECT_THAT(refusal_of({"x1", {"i64[4]"}}, kDrop), HasSubstr("dropout: expected floats"));
}

TEST(Dropout, InBf16IsTheFloatOpRounded) {
  expect_bf16_rounds_float({{"x1", {"5,33"}}, {"x2,y2", {"5@x,33@y"}}}, kDrop);
}

}  // namespace
}  // namespace brigade::tensor
