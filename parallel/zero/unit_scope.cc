// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/unit_scope.h"

#include <ATen/ATen.h>

#include "parallel/zero/unit_hooks.h"

namespace brigade::zero {

UnitScope::UnitScope(const torch::nn::Module& module) {
  OwnedUnit owned = owned_unit(module);
  units_ = std::move(owned.units);
  unit_ = owned.unit;
  if (units_ != nullptr) {
    units_->enter(unit_);
  }
}

UnitScope::~UnitScope() {
  if (units_ != nullptr) {
    units_->leave(unit_);
  }
}

void UnitScope::watch(const at::Tensor& output) const {
  if (units_ == nullptr || !output.defined() || !output.requires_grad()) {
    return;
  }
  output.register_hook(
      [units = std::weak_ptr<ModuleUnits>(units_), unit = unit_](const at::TensorBase&) {
        if (const auto alive = units.lock()) {
          alive->before_backward(unit);
        }
      });
}

void UnitScope::watch(const std::vector<at::Tensor>& outputs) const {
  for (const at::Tensor& output : outputs) {
    watch(output);
  }
}

}  // namespace brigade::zero
