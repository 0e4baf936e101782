// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;

constexpr int64_t kHeadSize = 8;

const Op kAttention = [](const std::vector<ShardedTensor>& operands) {
  return causal_attention(operands[0], operands[1], operands[2], kHeadSize);
};

std::vector<Operand> grouped(int64_t batch, int64_t sequence, int64_t heads, int64_t kv_heads) {
  const PartitionSpec spec({{"data"}, {}, {"tp"}});
  return {{numbers({batch, sequence, heads * kHeadSize}, 0.1), spec},
          {numbers({batch, sequence, kv_heads * kHeadSize}, 0.5), spec},
          {numbers({batch, sequence, kv_heads * kHeadSize}, 0.9), spec}};
}

TEST(Attention, SplitsBatchAndHeads) {
  expect_equal_to_one_rank({{"data", 2}, {"tp", 2}}, grouped(3, 9, 4, 2), kAttention);
  expect_equal_to_one_rank({{"data", 1}, {"tp", 4}}, grouped(2, 5, 4, 4), kAttention);
  expect_equal_to_one_rank({{"data", 3}, {"tp", 1}}, grouped(3, 1, 4, 1), kAttention);
}

TEST(Attention, EqualsLibtorchsKernelForwardAndBackward) {
  const std::vector<Operand> operands = grouped(2, 70, 4, 2);
  const auto heads = [](const at::Tensor& x) {
    return x.view({x.size(0), x.size(1), -1, kHeadSize}).transpose(1, 2);
  };
  std::vector<at::Tensor> leaves;
  for (const Operand& operand : operands) {
    leaves.push_back(operand.whole.clone().set_requires_grad(true));
  }
  const at::Tensor wanted =
      at::scaled_dot_product_attention(
          heads(leaves[0]), heads(leaves[1]), heads(leaves[2]), {}, 0.0, true, std::nullopt, true)
          .transpose(1, 2)
          .reshape(leaves[0].sizes());
  wanted.sum().backward();
  on_mesh({{"data", 1}, {"tp", 1}}, [&](Program& program) {
    std::vector<ShardedTensor> pieces;
    for (const Operand& operand : operands) {
      pieces.emplace_back(
          program,
          sharding::TensorType{DType::kFloat32, operand.whole.sizes().vec(), operand.spec},
          operand.whole.clone().set_requires_grad(true));
    }
    const ShardedTensor found = kAttention(pieces);
    found.local().sum().backward();
    EXPECT_TRUE(at::allclose(found.local(), wanted, 1e-5, 1e-5));
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(at::allclose(pieces[i].local().grad(), leaves[i].grad(), 1e-4, 1e-5)) << i;
    }
  });
}

TEST(Attention, RefusesHeadsThatDoNotDivide) {
  on_mesh({{"data", 1}, {"tp", 2}}, [](Program& program) {
    const PartitionSpec spec({{}, {}, {"tp"}});
    const ShardedTensor q = place(program, numbers({1, 4, 3 * kHeadSize}, 0), spec);
    try {
      (void)causal_attention(q, q, q, kHeadSize);
      FAIL() << "no error";
    } catch (const Exception& error) {
      EXPECT_NE(error.error().text.find("3 heads of 8 do not divide over 2 ranks"),
                std::string::npos)
          << error.error().text;
    }
  });
}

TEST(Attention, InBf16IsTheFloatOpRounded) {
  expect_bf16_rounds_float({{"x1", {"2,70,32", "2,70,16", "2,70,16"}},
                            {"x2,y2", {"3@x,9,32@y", "3@x,9,16@y", "3@x,9,16@y"}}},
                           kAttention);
}

TEST(Attention, RefusesOperandsOfTwoTypes) {
  const std::string refusal =
      refusal_of({"x1", {"bf16[1,4,16]", "1,4,16", "bf16[1,4,16]"}}, kAttention);
  EXPECT_EQ(refusal,
            "causal_attention needs q, k and v of one float type; cast with to(): q bf16[1,4,16], "
            "k f32[1,4,16], v bf16[1,4,16]");
}

}  // namespace
}  // namespace brigade::tensor
