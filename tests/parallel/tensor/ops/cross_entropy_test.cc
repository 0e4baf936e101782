// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/cross_entropy.h"

#include <cmath>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;

const Op kLoss = [](const std::vector<ShardedTensor>& operands) {
  return cross_entropy(operands[0], operands[1]);
};

at::Tensor logits(int64_t vocabulary) {
  return at::sin(at::arange(12 * vocabulary, at::kFloat) * 0.37).view({3, 4, vocabulary}) * 4;
}

/// One target in five is not trained.
at::Tensor targets(int64_t vocabulary) {
  const at::Tensor index = at::arange(12, at::kLong);
  return (index * 29 % vocabulary).masked_fill(index % 5 == 2, -1).view({3, 4});
}

TEST(CrossEntropy, SplitsTheVocabularyAlsoUnevenly) {
  for (const int64_t vocabulary : {12, 96, 97, 98, 101, 3}) {
    for (const int64_t tp : {1, 2, 3, 4}) {
      SCOPED_TRACE(std::to_string(vocabulary) + " over tp" + std::to_string(tp));
      expect_equal_to_one_rank({{"data", 2}, {"tp", tp}},
                               {{logits(vocabulary), PartitionSpec({{"data"}, {}, {"tp"}})},
                                {targets(vocabulary), PartitionSpec({{"data"}})}},
                               kLoss);
    }
  }
}

TEST(CrossEntropy, EqualsLibtorchsAndIsZeroWhereNotTrained) {
  at::Tensor scores = logits(97).set_requires_grad(true);
  const at::Tensor ids = targets(97);
  const at::Tensor wanted =
      at::cross_entropy_loss(scores.view({12, 97}), ids.view({12}), {}, at::Reduction::None, -1)
          .view({3, 4});
  wanted.sum().backward();
  on_mesh({{"x", 1}}, [&](Program& program) {
    const at::Tensor leaf = logits(97).set_requires_grad(true);
    const ShardedTensor found = cross_entropy(
        ShardedTensor(program, {DType::kFloat32, {3, 4, 97}, {}}, leaf), place(program, ids, {}));
    found.local().sum().backward();
    EXPECT_TRUE(at::allclose(found.local(), wanted, 1e-6, 1e-6));
    EXPECT_TRUE(at::allclose(leaf.grad(), scores.grad(), 1e-5, 1e-7));
  });
}

TEST(CrossEntropy, OfEqualLogitsIsTheLogarithmOfTheVocabulary) {
  on_mesh({{"tp", 4}}, [](Program& program) {
    const ShardedTensor flat =
        place(program, at::zeros({1, 2, 97}), PartitionSpec({{}, {}, {"tp"}}));
    const ShardedTensor ids = place(program, at::tensor({0, 96}, at::kLong).view({1, 2}), {});
    const ShardedTensor losses = cross_entropy(flat, ids);
    EXPECT_NEAR(losses.local()[0][0].item<double>(), std::log(97.0), 1e-6);
    EXPECT_NEAR(losses.local()[0][1].item<double>(), std::log(97.0), 1e-6);
  });
}

TEST(CrossEntropy, RefusesTargetsPlacedOtherwise) {
  on_mesh({{"data", 2}}, [](Program& program) {
    const ShardedTensor scores = place(program, at::zeros({2, 2, 4}), PartitionSpec({{"data"}}));
    const ShardedTensor ids = place(program, at::zeros({2, 2}, at::kLong), PartitionSpec());
    EXPECT_THROW((void)cross_entropy(scores, ids), Exception);
  });
}

TEST(CrossEntropy, OfBf16LogitsIsFp32AndItsGradientRounded) {
  for (const std::string mesh : {"x1,y1", "x2,y2"}) {
    expect_bf16_rounds_float(
        mesh,
        {{logits(97), PartitionSpec({{"x"}, {}, {"y"}})}, {targets(97), PartitionSpec({{"x"}})}},
        kLoss);
  }
  on_mesh("x1", [](Program& program) {
    const ShardedTensor half = place(program, logits(97).to(at::kBFloat16), {});
    const ShardedTensor same = place(program, half.local().to(at::kFloat), {});
    const ShardedTensor ids = place(program, targets(97), {});
    const ShardedTensor losses = cross_entropy(half, ids);
    EXPECT_EQ(losses.local().scalar_type(), at::kFloat);
    EXPECT_TRUE(at::equal(losses.local(), cross_entropy(same, ids).local()));
  });
}

}  // namespace
}  // namespace brigade::tensor
