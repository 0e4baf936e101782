// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/module_rows.h"

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <torch/nn/module.h>

#include "parallel/base/text.h"

namespace brigade::zero {
namespace {

bool lies_in(std::string_view name, std::string_view unit) {
  return unit.empty() || (name.starts_with(unit) && name.substr(unit.size()).starts_with('.'));
}

std::string unit_of(std::string_view name, const std::vector<std::string>& units) {
  std::string longest;
  for (const std::string& unit : units) {
    if (lies_in(name, unit) && unit.size() > longest.size()) {
      longest = unit;
    }
  }
  return longest;
}

std::string unit_text(const std::string& unit) {
  return unit.empty() ? "the rest of the module" : concat("unit \"", unit, '"');
}

sharding::ParameterFacts facts_of(const std::string& name,
                                  const at::Tensor& parameter,
                                  std::string unit) {
  sharding::ParameterFacts facts;
  facts.name = name;
  facts.shape.assign(parameter.sizes().begin(), parameter.sizes().end());
  facts.logical_axes.resize(facts.shape.size());
  facts.unit = std::move(unit);
  return facts;
}

Result<void> check_kind(const std::string& name, const at::Tensor& parameter) {
  if (parameter.scalar_type() == at::kFloat && parameter.is_cpu() &&
      parameter.layout() == at::kStrided) {
    return {};
  }
  return fail(ErrorCode::kUsage,
              concat("parameter ",
                     name,
                     ": dense fp32 on the CPU expected, found ",
                     at::toString(parameter.scalar_type()),
                     " on ",
                     parameter.device().str(),
                     "; convert the module before it is sharded"));
}

Result<void> check_units(const std::vector<std::string>& units, const ModuleRows& rows) {
  std::set<std::string> used;
  for (const ModuleRow& row : rows.trained) {
    used.insert(row.facts.unit);
  }
  for (const std::string& unit : units) {
    if (!used.contains(unit)) {
      return fail(ErrorCode::kUsage,
                  concat("no trained parameter lies in unit \"",
                         unit,
                         "\"; expected the path of a submodule, as in named_modules(), and each "
                         "parameter in the innermost unit alone"));
    }
  }
  return {};
}

/// The names of what `parameter` is shared by must agree on the unit.
Result<void> check_shared(const ModuleRow& row, const std::string& name, const std::string& unit) {
  if (row.facts.unit == unit) {
    return {};
  }
  return fail(ErrorCode::kUsage,
              concat("a shared parameter must lie in one unit; ",
                     row.facts.name,
                     " lies in ",
                     unit_text(row.facts.unit),
                     " and is ",
                     name,
                     " in ",
                     unit_text(unit),
                     " as well; list a unit that holds both"));
}

}  // namespace

Result<ModuleRows> module_rows(const torch::nn::Module& module,
                               const std::vector<std::string>& units) {
  ModuleRows rows;
  std::map<const c10::TensorImpl*, size_t> known;  // to the index in rows.trained
  std::set<const c10::TensorImpl*> frozen;
  for (const auto& named : module.named_parameters()) {
    const at::Tensor& parameter = named.value();
    if (!parameter.defined()) {
      continue;
    }
    if (!parameter.requires_grad()) {
      if (frozen.insert(parameter.unsafeGetTensorImpl()).second) {
        rows.frozen.push_back(parameter);
      }
      continue;
    }
    std::string unit = unit_of(named.key(), units);
    const auto [at, is_new] = known.emplace(parameter.unsafeGetTensorImpl(), rows.trained.size());
    Result<void> right = is_new ? check_kind(named.key(), parameter)
                                : check_shared(rows.trained[at->second], named.key(), unit);
    if (!right) {
      return fail(right.error());
    }
    if (is_new) {
      rows.trained.push_back({facts_of(named.key(), parameter, std::move(unit)), parameter});
    }
  }
  for (const at::Tensor& buffer : module.buffers()) {
    if (buffer.defined()) {
      rows.buffers.push_back(buffer);
    }
  }
  if (Result<void> right = check_units(units, rows); !right) {
    return fail(right.error());
  }
  return rows;
}

std::vector<std::string> children_of(const torch::nn::Module& module) {
  std::vector<std::string> names;
  for (const auto& child : module.named_children()) {
    const std::vector<at::Tensor> parameters = child.value()->parameters();
    const bool trains =
        std::any_of(parameters.begin(), parameters.end(), [](const auto& parameter) {
          return parameter.defined() && parameter.requires_grad();
        });
    if (trains) {
      names.push_back(child.key());
    }
  }
  return names;
}

}  // namespace brigade::zero
