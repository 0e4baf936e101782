// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/leaf_hooks.h"

#include <utility>

#include <ATen/ATen.h>

namespace brigade::end_to_end {

void with_whole_weights(loop::Trainer& trainer, const std::function<void()>& body) {
  zero::ParameterSet& parameters = trainer.parameters();
  for (size_t unit = 0; unit < parameters.units(); ++unit) {
    value_or_throw(parameters.wait_whole(unit));
  }
  body();
  for (size_t unit = 0; unit < parameters.units(); ++unit) {
    parameters.reshard(unit);
  }
}

void hook_gradient(loop::Trainer& trainer,
                   const std::string& parameter,
                   std::function<at::Tensor(const at::Tensor& gradient, int64_t backward)> change) {
  const at::Tensor leaf = trainer.parameters().weight(parameter).local();
  const std::function<at::Tensor(const at::Tensor&)> hook =
      [change = std::move(change), backward = int64_t{0}](const at::Tensor& gradient) mutable {
        return change(gradient, backward++);
      };
  leaf.register_hook(hook);
}

}  // namespace brigade::end_to_end
