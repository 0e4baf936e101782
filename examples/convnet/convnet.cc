// SPDX-License-Identifier: Apache-2.0
// A small convolutional net learns to tell four drawn shapes apart (README.md).
#include <iomanip>
#include <iostream>
#include <memory>

#include <torch/torch.h>

#include "parallel/zero/sharded_module.h"
#include "shapes.h"
#include "trainer/launch/run.h"

namespace {

constexpr int64_t kSteps = 60;
constexpr int64_t kBatch = 64;  // samples of a step, over all ranks

struct ConvNet : torch::nn::Module {
  torch::nn::Conv2d lines{torch::nn::Conv2dOptions(1, 8, 3).padding(1)};
  torch::nn::GroupNorm norm{torch::nn::GroupNormOptions(2, 8)};
  torch::nn::Conv2d parts{torch::nn::Conv2dOptions(8, 16, 3).padding(1)};
  torch::nn::Linear head{16 * 4 * 4, shapes::kClasses};

  ConvNet() {
    register_module("lines", lines);
    register_module("norm", norm);
    register_module("parts", parts);
    register_module("head", head);
  }

  torch::Tensor forward(const torch::Tensor& images) {
    const torch::Tensor seen = torch::max_pool2d(torch::relu(norm(lines(images))), 2);
    return head(torch::max_pool2d(torch::relu(parts(seen)), 2).flatten(1));
  }
};

double accuracy(ConvNet& net) {
  const torch::NoGradGuard no_history;
  const auto [images, labels] = shapes::draw(torch::arange(1'000'000, 1'000'512));
  return net.forward(images).argmax(1).eq(labels).to(torch::kDouble).mean().item<double>();
}

void train(brigade::collective::World& world) {
  torch::manual_seed(1);
  const auto net = std::make_shared<ConvNet>();
  brigade::zero::ShardedModule sharded(world, *net, {.stage = 2});
  torch::optim::AdamW adam(sharded.shards(), torch::optim::AdamWOptions(1e-2));
  for (int64_t step = 1; step <= kSteps; ++step) {
    const torch::Tensor indices = torch::arange((step - 1) * kBatch, step * kBatch);
    const auto [images, labels] = shapes::draw(sharded.share(indices));
    const torch::Tensor losses = torch::nll_loss(
        torch::log_softmax(net->forward(images), 1), labels, {}, torch::Reduction::Sum);
    const torch::Tensor loss = losses / kBatch;
    loss.backward();
    sharded.step(adam, {.max_norm = 1.0});
    std::cout << "step " << step << " loss " << sharded.sum(loss) << std::endl;
  }
  std::cout << "accuracy " << accuracy(*net) << std::endl;
}

}  // namespace

int main() {
  std::cout << std::fixed << std::setprecision(6);
  return brigade::launch::run(train);
}
