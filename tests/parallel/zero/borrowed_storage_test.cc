// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/borrowed_storage.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

namespace brigade::zero {
namespace {

TEST(BorrowedStorage, ComesAndGoesUnderViewsAndSavedTensors) {
  const at::Tensor leaf = at::full({2, 3}, 2.0).requires_grad_(true);
  const at::Tensor x = at::full({3}, 5.0).requires_grad_(true);
  const at::Tensor view = leaf.detach().t();
  const at::Tensor y = leaf.matmul(x).sum();
  free_storage(leaf);
  EXPECT_EQ(leaf.storage().nbytes(), 0U);
  allocate_storage(leaf);
  std::fill_n(leaf.data_ptr<float>(), leaf.numel(), 7.0F);  // as collectives write
  EXPECT_EQ(view.sum().item<float>(), 42.0F);
  torch::autograd::backward({y}, {});
  EXPECT_TRUE(at::equal(x.grad(), at::full({3}, 14.0)));  // of what is there now
}

TEST(BorrowedStorage, IsAnErrorToReadWhileItIsGone) {
  const at::Tensor tensor = at::ones({4, 4});
  free_storage(tensor);
  EXPECT_ANY_THROW(tensor.matmul(at::ones({4, 4})));
  EXPECT_ANY_THROW(tensor.add(1));
}

TEST(BorrowedStorage, HoldsTensorsOfNoElements) {
  const at::Tensor nothing = at::empty({0, 3});
  free_storage(nothing);
  allocate_storage(nothing);
  EXPECT_EQ(nothing.sum().item<float>(), 0.0F);
}

}  // namespace
}  // namespace brigade::zero
