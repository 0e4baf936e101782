// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/sharded_tensor.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/base/check.h"
#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;
using sharding::TensorType;

const PartitionSpec kRows({{"x"}, {}});

TEST(ShardedTensor, IsNothingByDefault) {
  EXPECT_FALSE(ShardedTensor().defined());
}

TEST(ShardedTensor, HoldsLocalAndTypeToEachOther) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const TensorType type{DType::kFloat32, {5, 2}, kRows};
    const int64_t rows = program.rank() == 0 ? 2 : 3;
    EXPECT_EQ(local_shape(program, type), (sharding::Shape{rows, 2}));
    EXPECT_TRUE(ShardedTensor(program, type, at::zeros({rows, 2})).defined());
    EXPECT_THROW(ShardedTensor(program, type, at::zeros({5, 2})), CheckFailure);
    EXPECT_THROW(ShardedTensor(program, type, at::zeros({rows, 2}, at::kDouble)), CheckFailure);
  });
}

TEST(ShardedTensor, DistributesAndCollectsWhatItDistributed) {
  const at::Tensor whole = numbers({7, 5}, 0.4);
  const std::vector<PartitionSpec> specs = {PartitionSpec(),
                                            kRows,
                                            PartitionSpec({{"y"}, {"x"}}),
                                            PartitionSpec({{"y", "x"}, {}}),
                                            PartitionSpec({{"x"}, {}}).with_reduced({"y"})};
  on_mesh({{"x", 3}, {"y", 2}}, [&](Program& program) {
    for (const PartitionSpec& spec : specs) {
      const ShardedTensor piece = distribute(program, whole, spec);
      EXPECT_EQ(piece.type().spec, spec);
      EXPECT_TRUE(at::equal(collect(piece), whole)) << piece.type().to_string();
    }
  });
}

TEST(ShardedTensor, DistributesACopyWithoutHistory) {
  on_mesh({{"x", 1}}, [](Program& program) {
    const at::Tensor whole = at::zeros({2, 2}).requires_grad_(true);
    const ShardedTensor piece = distribute(program, whole, PartitionSpec());
    EXPECT_FALSE(piece.local().requires_grad());
    piece.local().fill_(1);
    EXPECT_EQ(whole.sum().item<float>(), 0.0F);
  });
}

TEST(ShardedTensor, CollectsTheSumOfUnreducedTerms) {
  on_mesh({{"x", 3}}, [](Program& program) {
    const TensorType type{DType::kFloat32, {2}, PartitionSpec().with_unreduced({"x"})};
    const at::Tensor term = at::full({2}, static_cast<double>(program.rank() + 1));
    EXPECT_TRUE(at::equal(collect(ShardedTensor(program, type, term)), at::full({2}, 6.0F)));
  });
}

TEST(ShardedTensor, HasAGradientOfTheDualType) {
  on_mesh({{"x", 2}, {"y", 2}}, [](Program& program) {
    const PartitionSpec spec = PartitionSpec({{"x"}}).with_reduced({"y"});
    const ShardedTensor piece = distribute(program, at::ones({4}), spec);
    const ShardedTensor leaf(program, piece.type(), piece.local().detach().requires_grad_(true));
    EXPECT_THROW((void)leaf.gradient(), CheckFailure) << "before any backward";
    leaf.local().mutable_grad() = at::ones({2});
    EXPECT_EQ(leaf.gradient().type().spec, PartitionSpec({{"x"}}).with_unreduced({"y"}));
    EXPECT_EQ(dual(leaf.gradient().type()), leaf.type());
  });
}

TEST(ShardedTensor, DrawsWhichRanksHoldWhat) {
  on_mesh({{"x", 4}, {"y", 2}}, [](Program& program) {
    const ShardedTensor x = place(program, numbers({8, 2}, 0), PartitionSpec({{}, {"y"}}));
    const std::string picture = visualize(x);
    EXPECT_NE(picture.find("0,2,4,6"), std::string::npos) << picture;
    EXPECT_NE(picture.find("1,3,5,7"), std::string::npos) << picture;
    EXPECT_EQ(picture.find('\x1b'), std::string::npos);
    EXPECT_NE(visualize(x, true).find('\x1b'), std::string::npos);
  });
}

}  // namespace
}  // namespace brigade::tensor
