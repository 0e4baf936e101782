// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/rms_norm.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;

const Op kNorm = [](const std::vector<ShardedTensor>& operands) {
  return rms_norm(operands[0], operands[1], 1e-5);
};

TEST(RmsNorm, SumsTheGainsGradientOverTheRanksThatShareRows) {
  const at::Tensor x = numbers({5, 3, 19}, 0.1);
  const at::Tensor gain = numbers({19}, 0.4) + 1.5;
  const PartitionSpec rows({{"data"}});
  for (const PartitionSpec& of_gain : {PartitionSpec().with_reduced({"data"}), PartitionSpec()}) {
    expect_equal_to_one_rank({{"data", 2}, {"tp", 2}}, {{x, rows}, {gain, of_gain}}, kNorm);
    expect_equal_to_one_rank({{"data", 3}, {"tp", 1}}, {{x, rows}, {gain, of_gain}}, kNorm);
  }
}

TEST(RmsNorm, EqualsItsComposition) {
  on_mesh({{"x", 1}}, [](Program& program) {
    const at::Tensor x = numbers({4, 33}, 0.3);
    const at::Tensor gain = numbers({33}, 0.9);
    const at::Tensor wanted = x * at::rsqrt(x.square().mean(-1, true) + 1e-5) * gain;
    EXPECT_TRUE(
        at::allclose(rms_norm(place(program, x, {}), place(program, gain, {}), 1e-5).local(),
                     wanted,
                     1e-6,
                     1e-6));
  });
}

TEST(RmsNorm, RefusesASplitRow) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const ShardedTensor x = place(program, numbers({4, 8}, 0), PartitionSpec({{}, {"x"}}));
    const ShardedTensor gain = place(program, numbers({8}, 0), PartitionSpec());
    EXPECT_THROW((void)rms_norm(x, gain, 1e-5), Exception);
  });
}

TEST(RmsNorm, RefusesAGainOfAnotherSize) {
  on_mesh({{"x", 1}}, [](Program& program) {
    const ShardedTensor x = place(program, numbers({4, 8}, 0), {});
    EXPECT_THROW((void)rms_norm(x, place(program, numbers({1}, 0), {}), 1e-5), Exception);
    EXPECT_THROW((void)rms_norm(x, place(program, numbers({4, 8}, 0), {}), 1e-5), Exception);
  });
}

TEST(RmsNorm, InBf16IsTheFloatOpRounded) {
  expect_bf16_rounds_float({{"x1", {"6,33", "33"}}, {"x2,y2", {"6@x,4,33", "33{R:x}"}}}, kNorm);
}

}  // namespace
}  // namespace brigade::tensor
