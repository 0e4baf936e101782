// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/node.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

namespace brigade::tensor {
namespace {

/// y = a * factor, and b plays no part; says what backward() saw.
class ScaleNode final : public OpNode {
 public:
  ScaleNode(double factor, bool& grad_mode) : factor_(factor), grad_mode_(grad_mode) {}

  std::vector<at::Tensor> backward(const std::vector<at::Tensor>& gradients) override {
    const at::Tensor scaled = gradients[0] * factor_;
    grad_mode_ = scaled.requires_grad();
    return {scaled, at::Tensor()};
  }

 private:
  double factor_;
  bool& grad_mode_;
};

at::Tensor leaf(bool requires_grad = true) {
  return at::ones({3}).requires_grad_(requires_grad);
}

at::Tensor scale(const at::Tensor& a, const at::Tensor& b, double factor, bool& grad_mode) {
  at::Tensor y = a.detach() * factor;
  record(make_node<ScaleNode>(factor, grad_mode), {a, b}, y);
  return y;
}

TEST(OpNode, GivesEachInputItsGradient) {
  bool grad_mode = true;
  const at::Tensor a = leaf();
  const at::Tensor b = leaf();
  const at::Tensor y = scale(scale(a, b, 2.0, grad_mode), {}, 3.0, grad_mode);
  EXPECT_TRUE(y.requires_grad());
  torch::autograd::backward({y}, {at::ones({3})});
  EXPECT_TRUE(at::equal(a.grad(), at::full({3}, 6.0F)));
  EXPECT_FALSE(b.grad().defined()) << "an undefined gradient reached a leaf";
  EXPECT_FALSE(grad_mode) << "backward recorded a history of its own";
}

/// Two results, of which the second needs the first's gradient to be known.
class PairNode final : public OpNode {
 public:
  std::vector<at::Tensor> backward(const std::vector<at::Tensor>&) override {
    ADD_FAILURE() << "called without any gradient";
    return {};
  }
};

TEST(OpNode, PassesOnThatThereIsNothingToPassOn) {
  const at::Tensor a = leaf();
  at::Tensor y = a.detach() * 2;
  const c10::intrusive_ptr<OpNode> node = make_node<PairNode>();
  record(node, {a}, y);
  const torch::autograd::variable_list gradients = (*node)({at::Tensor()});
  ASSERT_EQ(gradients.size(), 1U);
  EXPECT_FALSE(gradients[0].defined());
}

TEST(OpNode, IsWantedOnlyWhereAGradientIs) {
  EXPECT_TRUE(needs_gradient({leaf(false), leaf()}));
  EXPECT_FALSE(needs_gradient({leaf(false), at::Tensor()}));
  const at::NoGradGuard no_grad;
  EXPECT_FALSE(needs_gradient({leaf()}));
}

}  // namespace
}  // namespace brigade::tensor
