// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/einsum.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;

Op einsum_of(std::string equation, std::optional<PartitionSpec> out = {}) {
  return [equation, out](const std::vector<ShardedTensor>& operands) {
    return einsum(equation, operands[0], operands[1], out);
  };
}

// Two ranks of "tp" split 7 features unevenly, two of "data" share a batch of 5.
const std::vector<mesh::Axis> kMesh = {{"data", 2}, {"tp", 2}};
const at::Tensor& input() {
  static const at::Tensor x = numbers({5, 3, 6}, 0.1);
  return x;
}

TEST(Einsum, ColumnParallelKeepsTheOutputSplit) {
  const PartitionSpec x = PartitionSpec({{"data"}}).with_reduced({"tp"});
  const PartitionSpec w = PartitionSpec({{"tp"}}).with_reduced({"data"});
  expect_equal_to_one_rank(
      kMesh, {{input(), x}, {numbers({7, 6}, 0.5), w}}, einsum_of("bsd,hd->bsh"));
}

TEST(Einsum, ReplicatedOperandsCollectTheirGradients) {
  expect_equal_to_one_rank(
      kMesh,
      {{input(), PartitionSpec({{"data"}})}, {numbers({7, 6}, 0.5), PartitionSpec({{"tp"}})}},
      einsum_of("bsd,hd->bsh"));
}

TEST(Einsum, RowParallelJoinsPartialSums) {
  const PartitionSpec x({{"data"}, {}, {"tp"}});
  const PartitionSpec w = PartitionSpec({{}, {"tp"}}).with_reduced({"data"});
  const at::Tensor hidden = numbers({5, 3, 7}, 0.2);
  const at::Tensor weight = numbers({6, 7}, 0.7);
  expect_equal_to_one_rank(
      kMesh, {{hidden, x}, {weight, w}}, einsum_of("bsh,dh->bsd", PartitionSpec({{"data"}})));
  expect_equal_to_one_rank(
      kMesh,
      {{hidden, x}, {weight, w}},
      einsum_of("bsh,dh->bsd", PartitionSpec({{"data"}}).with_unreduced({"tp"})));
  expect_equal_to_one_rank(kMesh,
                           {{hidden, x}, {weight, w}},
                           einsum_of("bsh,dh->bsd", PartitionSpec({{"data"}, {}, {"tp"}})));
}

TEST(Einsum, RefusesTwoSplitContractionsWithoutOut) {
  on_mesh(kMesh, [&](Program& program) {
    const ShardedTensor x = place(program, numbers({4, 6}, 0.0), PartitionSpec({{}, {"tp"}}));
    const ShardedTensor w = place(program, numbers({6, 4}, 0.0), PartitionSpec({{"tp"}}));
    try {
      (void)einsum("ij,jk->ik", x, w);
      FAIL() << "no error";
    } catch (const Exception& error) {
      EXPECT_EQ(error.error().code, ErrorCode::kType);
      EXPECT_NE(error.error().text.find("out"), std::string::npos) << error.error().text;
    }
  });
}

TEST(Einsum, PlansOnce) {
  on_mesh(kMesh, [&](Program& program) {
    const ShardedTensor x = place(program, numbers({4, 6}, 0.0), PartitionSpec({{"data"}}));
    const ShardedTensor w =
        place(program, numbers({6, 4}, 0.0), PartitionSpec().with_reduced({"data"}));
    (void)einsum("ij,jk->ik", x, w);
    const int64_t plans = program.plans_made();
    (void)einsum("ij,jk->ik", x, w);
    EXPECT_EQ(program.plans_made(), plans);
  });
}

TEST(Einsum, TakesBatchesAndAnyOrder) {
  for (const char* equation :
       {"bij,bjk->bik", "bij,bjk->bki", "ij,kj->ki", "bsd,hd->hbs", "ij,ij->ij"}) {
    SCOPED_TRACE(equation);
    const std::string text(equation);
    const size_t first = text.find(',');
    const size_t second = text.find('-') - first - 1;
    const auto sizes = [&](std::string_view indices) {
      std::vector<int64_t> result;
      for (const char index : indices) {
        result.push_back(index % 5 + 2);
      }
      return result;
    };
    const at::Tensor a = numbers(sizes(text.substr(0, first)), 0.3);
    const at::Tensor b = numbers(sizes(text.substr(first + 1, second)), 0.9);
    on_mesh({{"x", 1}}, [&](Program& program) {
      const ShardedTensor c = einsum(text, place(program, a, {}), place(program, b, {}));
      EXPECT_TRUE(at::allclose(c.local(), at::einsum(text, {a, b}), 1e-5, 1e-6));
    });
  }
}

TEST(Einsum, InBf16IsTheFloatOpRounded) {
  const Op columns = einsum_of("bsd,hd->bsh");
  expect_bf16_rounds_float({{"x1", {"4,6,33", "16,33"}}}, columns);
  expect_bf16_rounds_float({{"x2,y2", {"4@x,6,33{R:y}", "16@y,33{R:x}"}}}, columns, 4);
  const Op rows = einsum_of("bsh,dh->bsd", PartitionSpec({{"x"}}));
  expect_bf16_rounds_float({{"x1,y1", {"4@x,6,32@y", "9,32@y{R:x}"}}}, rows);
  expect_bf16_rounds_float({{"x2,y2", {"4@x,6,32@y", "9,32@y{R:x}"}}}, rows, 4);
}

TEST(Einsum, RefusesOperandsOfTwoTypes) {
  const std::string refusal = refusal_of({"x1", {"4,6", "bf16[5,6]"}}, einsum_of("bd,hd->bh"));
  EXPECT_NE(refusal.find("f32[4,6]"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("bf16[5,6]"), std::string::npos) << refusal;
}

}  // namespace
}  // namespace brigade::tensor
