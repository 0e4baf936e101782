// SPDX-License-Identifier: Apache-2.0
#include "tests/parallel/zero/small_net.h"

#include <ATen/ATen.h>
#include <torch/nn/utils/clip_grad.h>

#include "parallel/base/check.h"

namespace brigade::zero {
namespace {

at::Tensor numbers(at::IntArrayRef sizes, double phase) {
  const at::Tensor index = at::arange(c10::multiply_integers(sizes), at::kDouble);
  return (at::sin(index * 1.7 + phase) * 0.6).view(sizes).to(at::kFloat);
}

std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> all;
  for (const at::Tensor& tensor : tensors) {
    all.push_back(tensor.detach().clone());
  }
  return all;
}

std::vector<const c10::TensorImpl*> identities(const torch::nn::Module& module) {
  std::vector<const c10::TensorImpl*> all;
  for (const at::Tensor& parameter : module.parameters()) {
    all.push_back(parameter.unsafeGetTensorImpl());
  }
  return all;
}

}  // namespace

SmallNet::SmallNet(int64_t seed) {
  register_module("first", first);
  register_module("second", second);
  scale = register_parameter("scale", at::ones({}));
  nothing = register_parameter("nothing", at::empty({0, 3}));
  frozen = register_parameter("frozen", at::ones({5}), /*requires_grad=*/false);
  offset = register_buffer("offset", at::ones({3}));
  const c10::NoGradGuard no_history;
  double phase = static_cast<double>(seed) * 100;
  for (std::vector<at::Tensor> all : {parameters(), buffers()}) {
    for (at::Tensor& tensor : all) {
      phase += 1;
      tensor.copy_(numbers(tensor.sizes(), phase));
    }
  }
}

at::Tensor SmallNet::forward(const at::Tensor& x_BI) {
  const at::Tensor hidden = at::tanh(unit(first, x_BI)) * frozen;
  return unit(second, hidden) * scale + offset + nothing.sum();
}

Samples samples(int64_t step) {
  const double phase = static_cast<double>(step);
  return {numbers({kSmallBatch, 7}, 0.3 + phase) * 2, numbers({kSmallBatch, 3}, 0.7 + phase) * 2};
}

at::Tensor loss_of(SmallNet& net, const at::Tensor& inputs, const at::Tensor& targets) {
  return (unit(net, inputs) - targets).pow(2).sum() / kSmallBatch;
}

Optimizer sgd(std::vector<at::Tensor> parameters) {
  return std::make_shared<torch::optim::SGD>(
      std::move(parameters), torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.01));
}

Optimizer adamw(std::vector<at::Tensor> parameters) {
  return std::make_shared<torch::optim::AdamW>(std::move(parameters),
                                               torch::optim::AdamWOptions(0.02).weight_decay(0.1));
}

bool is_freed(const at::Tensor& tensor) {
  return tensor.storage().unsafeGetStorageImpl()->_mutable_data_ptr_no_checks().get() == nullptr;
}

Trained train_plainly(const MakeOptimizer& make) {
  SmallNet net(0);
  const Optimizer optimizer = make(net.parameters());
  Trained trained;
  for (int64_t step = 0; step < kSmallSteps; ++step) {
    const Samples batch = samples(step);
    const at::Tensor loss = loss_of(net, batch.inputs, batch.targets);
    loss.backward();
    torch::nn::utils::clip_grad_norm_(net.parameters(), kSmallNorm);
    optimizer->step();
    optimizer->zero_grad();
    trained.losses.push_back(loss.item<double>());
  }
  trained.parameters = copies(net.parameters());
  return trained;
}

Trained train_sharded(collective::World& world,
                      const MakeOptimizer& make,
                      const ModuleOptions& options,
                      int64_t passes) {
  SmallNet net(world.rank());
  const auto before = identities(net);
  ShardedModule sharded(world, net, options);
  const Optimizer optimizer = make(sharded.shards());
  Trained trained;
  for (int64_t step = 0; step < kSmallSteps; ++step) {
    const Samples batch = samples(step);
    const at::Tensor inputs = sharded.share(batch.inputs);
    const at::Tensor targets = sharded.share(batch.targets);
    double loss = 0;
    for (int64_t pass = 0; pass < passes; ++pass) {
      const at::Tensor term = loss_of(net,
                                      inputs.tensor_split(passes)[static_cast<size_t>(pass)],
                                      targets.tensor_split(passes)[static_cast<size_t>(pass)]);
      term.backward();
      loss += term.item<double>();
    }
    sharded.step(*optimizer, {.max_norm = kSmallNorm});
    trained.losses.push_back(sharded.sum(loss));
  }
  sharded.unshard();
  trained.parameters = copies(net.parameters());
  sharded.reshard();
  BRIGADE_CHECK(identities(net) == before);
  return trained;
}

}  // namespace brigade::zero
