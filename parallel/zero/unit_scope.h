// SPDX-License-Identifier: Apache-2.0
/// unit: a forward through a unit of a sharded module, whose weights are whole for that long.
///
///   at::Tensor forward(at::Tensor x) {
///     for (auto& block : *blocks) x = zero::unit(*block->as<Block>(), x);
///     return zero::unit(head, x);
///   }
///   ...
///   zero::ShardedModule sharded(world, *net, {.stage = 3, .units = {"blocks.0", ..., "head"}});
///
/// At stage 3 a unit's weights are gathered before its forward and freed after it, gathered again
/// before its backward, and freed when it has its gradients; the gather of the unit that came next
/// last time goes on meanwhile. A forward that touches a freed weight is an error that names the
/// parameter and its unit. A parameter outside of all units lies in the unit of the whole module:
/// call that by unit(*net, x) too.
///
/// Everywhere else it is module.forward(args...): on a module that is not sharded, at stages 0 to
/// 2, in a program without Brigade's ranks. So a model is written once.
///
/// Collective at stage 3, also without gradients: all ranks enter the same units in the same order.
/// Inside of no autograd Function that runs the forward anew (recompute).
#pragma once

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

namespace torch::nn {
class Module;
}

namespace brigade::zero {

class ModuleUnits;

/// From a unit's gather to its freeing; internal to unit().
class UnitScope {
 public:
  explicit UnitScope(const torch::nn::Module& module);
  ~UnitScope();
  UnitScope(const UnitScope&) = delete;
  UnitScope& operator=(const UnitScope&) = delete;

  /// Has the unit gathered again before the gradient of `output` goes on.
  void watch(const at::Tensor& output) const;
  void watch(const std::vector<at::Tensor>& outputs) const;
  template <class... T>
  void watch(const std::tuple<T...>& outputs) const {
    std::apply([this](const auto&... each) { (watch(each), ...); }, outputs);
  }
  template <class A, class B>
  void watch(const std::pair<A, B>& outputs) const {
    watch(outputs.first);
    watch(outputs.second);
  }

 private:
  std::shared_ptr<ModuleUnits> units_;  // none: nothing to do
  size_t unit_ = 0;
};

/// module.forward(args...); `module` is a module, or a holder of or pointer to one, whose forward
/// returns a tensor, or a vector, pair or tuple of them.
template <class Module, class... Arguments>
auto unit(Module& module, Arguments&&... arguments) {
  if constexpr (std::is_base_of_v<torch::nn::Module, std::remove_const_t<Module>>) {
    const UnitScope scope(module);
    auto output = module.forward(std::forward<Arguments>(arguments)...);
    scope.watch(output);
    return output;
  } else {
    return unit(*module, std::forward<Arguments>(arguments)...);
  }
}

}  // namespace brigade::zero
