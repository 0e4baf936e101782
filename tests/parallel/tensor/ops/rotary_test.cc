// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/rotary.h"

#include <cmath>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;

constexpr int64_t kHeadSize = 8;

TEST(Rotary, TurnsEachHeadAndBack) {
  const RotaryTable table = rotary_table(9, kHeadSize, 10000.0);
  const Op turn = [&](const std::vector<ShardedTensor>& operands) {
    return rotary(operands[0], table, kHeadSize);
  };
  expect_equal_to_one_rank(
      {{"data", 2}, {"tp", 2}},
      {{numbers({3, 9, 4 * kHeadSize}, 0.2), PartitionSpec({{"data"}, {}, {"tp"}})}},
      turn);
}

TEST(Rotary, EqualsItsComposition) {
  const RotaryTable table = rotary_table(5, kHeadSize, 10000.0);
  const at::Tensor x = numbers({2, 5, 2 * kHeadSize}, 0.6);
  const std::vector<at::Tensor> halves = x.view({2, 5, 2, kHeadSize}).chunk(2, -1);
  const at::Tensor c = table.cosine.unsqueeze(1);
  const at::Tensor s = table.sine.unsqueeze(1);
  const at::Tensor wanted =
      at::cat({halves[0] * c - halves[1] * s, halves[1] * c + halves[0] * s}, -1).view(x.sizes());
  on_mesh({{"x", 1}}, [&](Program& program) {
    EXPECT_TRUE(
        at::allclose(rotary(place(program, x, {}), table, kHeadSize).local(), wanted, 1e-6, 1e-6));
  });
  EXPECT_NEAR(table.cosine[1][0].item<double>(), std::cos(1.0), 1e-6);
  EXPECT_NEAR(table.sine[3][1].item<double>(), std::sin(3.0 * std::pow(10000.0, -0.25)), 1e-6);
}

TEST(Rotary, InBf16IsTheFloatOpRounded) {
  const RotaryTable table = rotary_table(9, kHeadSize, 10000.0);
  expect_bf16_rounds_float({{"x1", {"2,9,16"}}, {"x2,y2", {"3@x,9,32@y"}}},
                           [&](const auto& of) { return rotary(of[0], table, kHeadSize); });
}

}  // namespace
}  // namespace brigade::tensor
