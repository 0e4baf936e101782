// SPDX-License-Identifier: Apache-2.0
/// ShardedModule: data parallelism and ZeRO for any torch::nn::Module of one's own.
///
///   auto net = std::make_shared<ConvNet>();
///   zero::ShardedModule sharded(world, *net, {.stage = 2});
///   torch::optim::AdamW adam(sharded.shards(), torch::optim::AdamWOptions(1e-3));
///   ...
///   const at::Tensor mine = sharded.share(indices);   // this rank's samples of the global batch
///   const at::Tensor loss = cross_entropy_sum(net->forward(images(mine)), labels(mine)) / kBatch;
///   loss.backward();
///   sharded.step(adam, {.max_norm = 1.0});            // instead of clipping, step, zero_grad
///   print(sharded.sum(loss));                         // of the global batch
///
/// The module is not touched: its parameters stay the tensors that they are, and what lies under
/// them becomes memory of the set that shards them. At the start every rank takes the first rank's
/// values, also of frozen parameters (requires_grad false) and of buffers.
///
/// Divisor:       gradients of the ranks are summed, never averaged. Divide the loss once, by the
///                number of samples (or tokens) in the whole global batch, as one rank alone would;
///                global_count() adds up what ranks have where that is not known beforehand.
/// Accumulation:  backward() may run several times before step(); the gradients add up. Stages 2
///                and 3 reduce them within each, and must be told how many there will be at most.
/// Stage 2:       units are reduced as their gradients become complete; a parameter's grad() is
///                then undefined. Units are those that options name, else the direct submodules.
/// Stage 3:       weights are memory only while their unit is in use: its forward is entered by
///                unit(block, x) (unit_scope.h), which the module's own forward has to say.
/// Optimizers:    those that update each element by its own gradient: SGD, Adam, AdamW, Adagrad,
///                RMSprop. Not LBFGS, which would take one shard for the whole model. Its states
///                are this rank's share; options of parameter groups go by named_shards().
/// Buffers:       stay each rank's own after the start. BatchNorm sees this rank's samples alone,
///                so its statistics and gradients depend on the number of ranks; GroupNorm's and
///                LayerNorm's do not.
/// Shared:        a parameter registered twice is one, within one unit.
/// The module:    holds whole weights after step(), equal on all ranks, for evaluation and
///                torch::save; at stage 3 between unshard() and reshard(), also when the
///                ShardedModule goes. It is borrowed. Not to be done meanwhile: converting or
///                moving the module, and setting requires_grad.
///
/// Collective:    the constructor, step(), sum(), global_count(), unshard(), and at
///                stages 2 and 3 backward() and zero_grad(): all ranks, in the same order.
/// Cost:          ParameterSet's, and one all-reduce of 600 bytes per step.
/// Errors:        thrown as Exception. A rank that fails alone must end the world, as launch::run()
///                does, so that no other waits for it; what step() finds wrong it throws on all.
/// Thread safety: belongs to one thread, that of its World.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "parallel/collective/world.h"
#include "parallel/tensor/program.h"
#include "parallel/zero/module_step.h"
#include "parallel/zero/unit_scope.h"

namespace torch::nn {
class Module;
}
namespace torch::optim {
class Optimizer;
}

namespace brigade::zero {

struct ModuleOptions {
  /// What is sharded. 0: nothing (data parallel); 1: optimizer states; 2: gradients, too; 3: and
  /// weights.
  int stage = 0;
  int64_t replicas = 1;  ///< how many copies of the sharded states there are; divides the ranks
  /// Paths of submodules whose parameters move together; the rest of the module is one more. None:
  /// the whole module at stages 0 and 1, else the direct submodules.
  std::vector<std::string> units = {};
  int64_t passes = 1;  ///< stages 2 and 3: backward passes per step, at most
};

class ShardedModule {
 public:
  /// Errors: kUsage for a stage or number of replicas that cannot be, a unit without parameters, a
  ///         parameter shared between units and one that is not fp32 on the CPU; kMismatch where
  ///         the ranks' modules differ.
  ShardedModule(collective::World& world, torch::nn::Module& module, ModuleOptions options = {});
  ~ShardedModule();

  /// What this rank updates, for the optimizer: rows of each trained parameter, in the order of
  /// named_parameters(). Some have no rows.
  std::vector<at::Tensor> shards() const;
  /// With the parameters' names.
  std::vector<std::pair<std::string, at::Tensor>> named_shards() const;

  /// This rank's rows of a tensor whose dim 0 runs over the global batch; a view.
  at::Tensor share(const at::Tensor& batch) const;

  /// Reduces the gradients of the backward passes since the last step, measures and clips them, has
  /// `optimizer` update the shards, gathers the weights, and drops the gradients.
  ///
  /// Errors: kUsage for LBFGS, a parameter without a gradient (named, unless options allow it) and
  ///         a module whose parameters were replaced; kNonFinite for a gradient that is not finite
  ///         (parameter and rank named, unless options skip the step). Weights are then unchanged,
  ///         gradients dropped.
  StepReport step(torch::optim::Optimizer& optimizer, const StepOptions& options = {});

  /// Sums over all ranks, the same on each: of a loss or a count of right answers.
  double sum(double value);
  double sum(const at::Tensor& scalar);
  int64_t global_count(int64_t mine);

  /// Makes all weights whole and frees them again; nothing at stages 0 to 2.
  void unshard();
  void reshard();

  /// Drops gradients without a step. At stages 2 and 3 collective: one of step() and zero_grad()
  /// must follow a backward pass, also the last one.
  void zero_grad();

  /// Mesh, ledger of what was moved and why.
  tensor::Program& program();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace brigade::zero
