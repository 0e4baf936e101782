// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/elementwise.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;

const Op kGate = [](const std::vector<ShardedTensor>& operands) {
  return silu_gate(operands[0], operands[1]);
};
const Op kAdd = [](const std::vector<ShardedTensor>& operands) {
  return add(operands[0], operands[1]);
};

TEST(Elementwise, AddsOperandsThatAreSplitAlike) {
  const PartitionSpec spec({{"data"}, {}, {"tp"}});
  expect_equal_to_one_rank({{"data", 2}, {"tp", 2}},
                           {{numbers({5, 2, 7}, 0), spec}, {numbers({5, 2, 7}, 1), spec}},
                           kAdd);
}

TEST(Elementwise, AddsEqualUnfinishedSums) {
  const PartitionSpec spec = PartitionSpec({{"data"}}).with_unreduced({"tp"});
  expect_equal_to_one_rank(
      {{"data", 2}, {"tp", 2}}, {{numbers({5, 7}, 0), spec}, {numbers({5, 7}, 1), spec}}, kAdd);
}

TEST(Elementwise, AddsAReducedBiasToASplitTensor) {
  const PartitionSpec spec({{"data"}, {"tp"}});
  expect_equal_to_one_rank({{"data", 2}, {"tp", 2}},
                           {{numbers({5, 7}, 0), spec},
                            {numbers({7}, 1), PartitionSpec({{"tp"}}).with_reduced({"data"})}},
                           kAdd);
}

TEST(Elementwise, GatesSplitFeatures) {
  const PartitionSpec spec({{"data"}, {}, {"tp"}});
  for (const int64_t tp : {1, 2, 3}) {
    expect_equal_to_one_rank({{"data", 2}, {"tp", tp}},
                             {{numbers({5, 2, 37}, 0), spec}, {numbers({5, 2, 37}, 1), spec}},
                             kGate);
  }
}

TEST(Elementwise, GateEqualsItsComposition) {
  on_mesh({{"x", 1}}, [](Program& program) {
    const at::Tensor g = numbers({3, 19}, 0.2);
    const at::Tensor u = numbers({3, 19}, 0.8);
    const ShardedTensor fused = silu_gate(place(program, g, {}), place(program, u, {}));
    EXPECT_TRUE(at::allclose(fused.local(), at::silu(g) * u, 1e-6, 1e-6));
  });
}

TEST(Elementwise, GateRefusesUnfinishedSums) {
  on_mesh({{"tp", 2}}, [](Program& program) {
    const ShardedTensor x = place(program, numbers({4}, 0), PartitionSpec().with_unreduced({"tp"}));
    EXPECT_THROW((void)silu_gate(x, x), Exception);
  });
}

TEST(Elementwise, GateRefusesOperandsOfTwoShapes) {
  on_mesh({{"x", 1}}, [](Program& program) {
    const ShardedTensor gate = place(program, numbers({3, 4}, 0), {});
    const ShardedTensor up = place(program, numbers({1, 4}, 0), {});
    EXPECT_THROW((void)silu_gate(gate, up), Exception);
    EXPECT_EQ(add(gate, up).type().global, (sharding::Shape{3, 4}));
  });
}

}  // namespace
}  // namespace brigade::tensor
