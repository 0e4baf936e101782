// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/unit_hooks.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/nn/module.h>

namespace brigade::zero {
namespace {

using UnitOfModule = std::map<const torch::nn::Module*, size_t>;

class GradientHook final : public torch::autograd::PostAccumulateGradHook {
 public:
  GradientHook(std::weak_ptr<ModuleUnits> units,
               std::shared_ptr<const UnitOfModule> unit_of,
               size_t row)
      : units_(std::move(units)), unit_of_(std::move(unit_of)), row_(row) {}

  void operator()(const at::Tensor&) override {
    if (const auto units = units_.lock()) {
      units->on_gradient(row_);
    }
  }

  OwnedUnit find(const torch::nn::Module& module) const {
    const auto found = unit_of_->find(&module);
    return found == unit_of_->end() ? OwnedUnit() : OwnedUnit{units_.lock(), found->second};
  }

 private:
  std::weak_ptr<ModuleUnits> units_;
  std::shared_ptr<const UnitOfModule> unit_of_;
  size_t row_;
};

std::shared_ptr<const UnitOfModule> units_of_modules(const torch::nn::Module& module,
                                                     const ParameterSet& set) {
  std::set<std::string> names;
  for (const sharding::ParameterFacts& facts : set.facts()) {
    names.insert(facts.unit);
  }
  auto unit_of = std::make_shared<UnitOfModule>();
  for (const auto& child : module.named_modules("", /*include_self=*/false)) {
    if (names.contains(child.key())) {
      unit_of->emplace(child.value().get(), set.unit(child.key()));
    }
  }
  if (names.contains("")) {
    unit_of->emplace(&module, set.unit(""));
  }
  return unit_of;
}

}  // namespace

UnitHooks::UnitHooks(const torch::nn::Module& module,
                     const ModuleRows& rows,
                     const std::shared_ptr<ModuleUnits>& units,
                     const ParameterSet& set)
    : rows_(rows) {
  const auto unit_of = units_of_modules(module, set);
  for (size_t row = 0; row < rows.trained.size(); ++row) {
    torch::autograd::impl::set_post_acc_grad_hooks(
        rows.trained[row].parameter, std::make_unique<GradientHook>(units, unit_of, row));
  }
}

UnitHooks::~UnitHooks() {
  for (const ModuleRow& row : rows_.trained) {
    torch::autograd::impl::set_post_acc_grad_hooks(row.parameter, nullptr);
  }
}

OwnedUnit owned_unit(const torch::nn::Module& module) {
  for (const at::Tensor& parameter : module.parameters()) {
    const auto* hook = parameter.defined() && parameter.requires_grad()
                           ? dynamic_cast<const GradientHook*>(
                                 torch::autograd::impl::post_acc_grad_hooks(parameter).get())
                           : nullptr;
    if (hook != nullptr) {
      return hook->find(module);
    }
  }
  return {};
}

}  // namespace brigade::zero
