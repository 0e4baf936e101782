// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/unit_scope.h"

#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn.h>

#include "parallel/zero/sharded_module.h"
#include "tests/parallel/zero/small_net.h"
#include "tests/support/rank_threads.h"

namespace brigade::zero {
namespace {

/// Returns its tensors in the form that Output says.
template <class Output>
struct Twice : torch::nn::Module {
  at::Tensor weight = register_parameter("weight", at::full({4}, 3.0));

  Output forward(const at::Tensor& x) { return Output{x * weight, x + weight}; }
};

at::Tensor total(const std::vector<at::Tensor>& each) {
  return each[0].sum() + each[1].sum();
}
template <class Pair>
at::Tensor total(const Pair& each) {
  return std::get<0>(each).sum() + std::get<1>(each).sum();
}

template <class Output>
void expect_gathered_again_for_backward() {
  testing::run_ranks(2, [](collective::World& world) {
    Twice<Output> net;
    ShardedModule sharded(world, net, {.stage = 3});
    const at::Tensor x = at::ones({4}).requires_grad_(true);
    const Output output = unit(net, x);
    EXPECT_TRUE(is_freed(net.weight));
    total(output).backward();
    EXPECT_TRUE(x.grad().equal(at::full({4}, 4.0)));
    EXPECT_TRUE(is_freed(net.weight));
    sharded.zero_grad();
  });
}

TEST(UnitScope, WatchesTensorsInVectorsPairsAndTuples) {
  expect_gathered_again_for_backward<std::vector<at::Tensor>>();
  expect_gathered_again_for_backward<std::pair<at::Tensor, at::Tensor>>();
  expect_gathered_again_for_backward<std::tuple<at::Tensor, at::Tensor>>();
}

TEST(UnitScope, IsAPlainCallOnAModuleThatIsNotSharded) {
  torch::nn::Linear linear(3, 2);
  const auto pointer = linear.ptr();
  const at::Tensor x = at::ones({1, 3});
  EXPECT_TRUE(unit(linear, x).equal(linear->forward(x)));
  EXPECT_TRUE(unit(pointer, x).equal(linear->forward(x)));
  EXPECT_TRUE(unit(*pointer, x).equal(linear->forward(x)));
}

TEST(UnitScope, FreesTheUnitWhenItsForwardThrows) {
  testing::run_ranks(2, [](collective::World& world) {
    torch::nn::Linear linear(3, 2);
    const ShardedModule sharded(world, *linear, {.stage = 3});
    EXPECT_THROW(unit(linear, at::ones({1, 4})), c10::Error);
    EXPECT_TRUE(is_freed(linear->weight));
    EXPECT_EQ(unit(linear, at::ones({1, 3})).size(1), 2);
  });
}

TEST(UnitScope, MayBeEnteredTwiceInOneForward) {
  testing::run_ranks(2, [](collective::World& world) {
    const auto make = [] {
      torch::nn::Linear linear(3, 3);
      const c10::NoGradGuard no_history;
      linear->weight.copy_(at::arange(9).view({3, 3}) * 0.1);
      linear->bias.zero_();
      return linear;
    };
    torch::nn::Linear linear = make();
    torch::nn::Linear plain = make();
    ShardedModule sharded(world, *linear, {.stage = 3});
    const at::Tensor x = at::ones({1, 3}).requires_grad_(true);
    const at::Tensor y = at::ones({1, 3}).requires_grad_(true);
    unit(linear, at::tanh(unit(linear, x))).sum().backward();
    plain(at::tanh(plain(y))).sum().backward();
    EXPECT_TRUE(at::allclose(x.grad(), y.grad()));
    sharded.zero_grad();
  });
}

}  // namespace
}  // namespace brigade::zero
