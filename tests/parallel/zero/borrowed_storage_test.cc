// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/borrowed_storage.h"

#include <algorithm>
#include <functional>
#include <vector>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

namespace brigade::zero {
namespace {

TEST(BorrowedStorage, ComesAndGoesUnderViewsAndSavedTensors) {
  const at::Tensor leaf = at::full({2, 3}, 2.0).requires_grad_(true);
  const at::Tensor x = at::full({3}, 5.0).requires_grad_(true);
  const at::Tensor view = leaf.detach().t();
  const at::Tensor y = leaf.matmul(x).sum();
  free_storage(leaf, "");
  allocate_storage(leaf);
  std::fill_n(leaf.data_ptr<float>(), leaf.numel(), 7.0F);  // as collectives write
  EXPECT_EQ(view.sum().item<float>(), 42.0F);
  torch::autograd::backward({y}, {});
  EXPECT_TRUE(at::equal(x.grad(), at::full({3}, 14.0)));  // of what is there now
}

TEST(BorrowedStorage, IsANamedErrorToReadWhileItIsGone) {
  const at::Tensor tensor = at::ones({4, 4});
  const at::Tensor view = tensor.t();
  free_storage(tensor, "w is away");
  const std::vector<std::function<void()>> reads = {
      [&] {
        tensor.matmul(at::ones({4, 4}));
      },
      [&] { tensor.add(1); },
      [&] { view.sum(); },
      [&] {
        at::conv2d(at::ones({1, 1, 4, 4}), tensor.view({1, 1, 4, 4}));
      },
      [&] { at::embedding(tensor, at::zeros({2}, at::kLong)); },
      [&] {
        at::native_layer_norm(at::ones({2, 4}), {4}, tensor[0], {}, 1e-5);
      },
      [&] { (void)tensor.data_ptr(); },
  };
  for (size_t i = 0; i < reads.size(); ++i) {
    try {
      reads[i]();
      ADD_FAILURE() << "read " << i << " went through";
    } catch (const c10::Error& error) {
      EXPECT_THAT(error.what_without_backtrace(), ::testing::HasSubstr("w is away")) << i;
    }
  }
  allocate_storage(tensor);
  tensor.fill_(2.0);
  EXPECT_EQ(view.sum().item<float>(), 32.0F);
}

TEST(BorrowedStorage, HoldsTensorsOfNoElements) {
  const at::Tensor nothing = at::empty({0, 3});
  free_storage(nothing, "");
  allocate_storage(nothing);
  EXPECT_EQ(nothing.sum().item<float>(), 0.0F);
}

}  // namespace
}  // namespace brigade::zero
