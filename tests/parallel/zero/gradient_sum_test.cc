// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/gradient_sum.h"

#include <bit>
#include <numeric>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/base/binary_tree.h"

namespace brigade::zero {
namespace {

/// Microbatch gradients whose sum depends on its order.
std::vector<at::Tensor> terms(int64_t microbatches) {
  std::vector<at::Tensor> made;
  for (int64_t i = 0; i < microbatches; ++i) {
    const at::Tensor index = at::arange(12, at::kFloat) + static_cast<double>(i * 12);
    made.push_back(
        (at::sin(index * 1.3) * at::exp2(at::remainder(index * 7, 23) - 11)).view({3, 4}));
  }
  return made;
}

at::Tensor tree(const std::vector<at::Tensor>& leaves) {
  return tree_sum(
      0,
      static_cast<int64_t>(leaves.size()),
      [&](int64_t i) { return leaves[static_cast<size_t>(i)]; },
      [](const at::Tensor& a, const at::Tensor& b) { return a + b; });
}

at::Tensor sum_of(const std::vector<at::Tensor>& leaves, GradientSum::Order order) {
  GradientSum sum(order);
  const int64_t count = static_cast<int64_t>(leaves.size());
  for (int64_t i = 0; i < count; ++i) {
    sum.add(leaves[static_cast<size_t>(i)].clone(), i, count);
  }
  return sum.finish();
}

TEST(GradientSum, HasTheBitsOfTheFixedTree) {
  for (int64_t microbatches = 1; microbatches <= 17; ++microbatches) {
    const std::vector<at::Tensor> leaves = terms(microbatches);
    EXPECT_TRUE(at::equal(sum_of(leaves, GradientSum::Order::kTree), tree(leaves))) << microbatches;
  }
}

TEST(GradientSum, HasThoseBitsInAnyOrderOfArrival) {
  for (int64_t microbatches = 1; microbatches <= 17; ++microbatches) {
    const std::vector<at::Tensor> leaves = terms(microbatches);
    for (const int64_t stride : {-1, 5, 7}) {
      if (std::gcd(stride, microbatches) != 1) {
        continue;
      }
      GradientSum sum(GradientSum::Order::kTree);
      int64_t index = microbatches - 1;
      for (int64_t i = 0; i < microbatches; ++i) {
        sum.add(leaves[static_cast<size_t>(index)].clone(), index, microbatches);
        index = ((index + stride) % microbatches + microbatches) % microbatches;
      }
      EXPECT_TRUE(at::equal(sum.finish(), tree(leaves))) << microbatches << " by " << stride;
    }
  }
}

TEST(GradientSum, CountsAMicrobatchWithoutGradientAsZero) {
  GradientSum sum(GradientSum::Order::kTree);
  sum.add(at::full({2}, 4.0F), 3, 5);
  sum.add(at::full({2}, 1.0F), 0, 5);
  EXPECT_TRUE(at::equal(sum.finish(), at::full({2}, 5.0F)));
}

TEST(GradientSum, IsALowerPartOfTheTreeOverRanks) {
  for (const int64_t ranks : {2, 3, 4, 5}) {
    for (const int64_t each : {1, 2, 4}) {
      const std::vector<at::Tensor> leaves = terms(ranks * each);
      std::vector<at::Tensor> per_rank;
      for (int64_t rank = 0; rank < ranks; ++rank) {
        const auto first = leaves.begin() + rank * each;
        per_rank.push_back(sum_of({first, first + each}, GradientSum::Order::kTree));
      }
      EXPECT_TRUE(at::equal(tree(per_rank), tree(leaves))) << ranks << " x " << each;
    }
  }
}

TEST(GradientSum, HoldsLogarithmicallyManyTensors) {
  GradientSum sum(GradientSum::Order::kTree);
  int64_t added = 0;
  for (const at::Tensor& leaf : terms(40)) {
    sum.add(leaf, added, 40);
    ++added;
    const int64_t subtrees = std::popcount(static_cast<uint64_t>(added));
    EXPECT_EQ(sum.live_tensors(), added < 40 ? subtrees : 1);
  }
}

TEST(GradientSum, RunsInOneBuffer) {
  GradientSum sum(GradientSum::Order::kRunning);
  const std::vector<at::Tensor> leaves = terms(5);
  at::Tensor wanted = leaves[0].clone();
  sum.add(leaves[0].clone(), 0, 5);
  for (size_t i = 1; i < leaves.size(); ++i) {
    sum.add(leaves[i], static_cast<int64_t>(i), 5);
    wanted += leaves[i];
    EXPECT_EQ(sum.live_tensors(), 1);
  }
  EXPECT_TRUE(at::equal(sum.finish(), wanted));
}

TEST(GradientSum, StartsAnewAfterFinish) {
  for (const auto order : {GradientSum::Order::kRunning, GradientSum::Order::kTree}) {
    GradientSum sum(order);
    EXPECT_FALSE(sum.finish().defined());
    sum.add(at::ones({2}), 0, 1);
    EXPECT_TRUE(at::equal(sum.finish(), at::ones({2})));
    EXPECT_EQ(sum.live_tensors(), 0);
    sum.add(at::ones({2}), 0, 1);
    EXPECT_TRUE(at::equal(sum.finish(), at::ones({2})));
  }
}

TEST(GradientSum, LeavesMemoryAloneThatAnotherGradientShares) {
  for (const auto order : {GradientSum::Order::kRunning, GradientSum::Order::kTree}) {
    const at::Tensor shared = at::ones({4});
    GradientSum sum(order);
    sum.add(shared.view({2, 2}), 0, 2);
    sum.add(at::ones({2, 2}), 1, 2);
    EXPECT_TRUE(at::equal(sum.finish(), at::full({2, 2}, 2.0F)));
    EXPECT_TRUE(at::equal(shared, at::ones({4})));
  }
}

TEST(GradientSum, TakesTransposedAndExpandedGradients) {
  const at::Tensor columns = at::arange(6, at::kFloat).view({2, 3});
  for (const auto order : {GradientSum::Order::kRunning, GradientSum::Order::kTree}) {
    GradientSum sum(order);
    sum.add(columns.t(), 0, 2);
    sum.add(at::ones({1, 1}).expand({3, 2}), 1, 2);
    const at::Tensor found = sum.finish();
    EXPECT_TRUE(found.is_contiguous());
    EXPECT_TRUE(at::equal(found, columns.t() + 1));
  }
}

TEST(GradientSum, AddsBf16GradientsInFp32) {
  for (const auto order : {GradientSum::Order::kRunning, GradientSum::Order::kTree}) {
    GradientSum sum(order);
    sum.add(at::full({2}, 256.0F).to(at::kBFloat16), 0, 2);
    sum.add(at::ones({2}).to(at::kBFloat16), 1, 2);
    EXPECT_TRUE(at::equal(sum.finish(), at::full({2}, 257.0F)));
  }
}

}  // namespace
}  // namespace brigade::zero
