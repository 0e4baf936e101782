// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/parameter_table.h"

#include <algorithm>
#include <utility>

#include <ATen/ATen.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/tensor/buffers.h"

namespace brigade::zero {
namespace {

void list_in(std::vector<Unit>& units, Parameter& parameter) {
  const std::string& name = parameter.facts->unit;
  auto unit = std::find_if(
      units.begin(), units.end(), [&](const Unit& known) { return known.name == name; });
  if (unit == units.end()) {
    unit = units.insert(units.end(), Unit{name, {}, {}});
  }
  unit->parameters.push_back(&parameter);
  const mesh::AxisNames& axes = parameter.placement.sum_axes;
  if (axes.empty()) {
    return;
  }
  auto sum = std::find_if(
      unit->sums.begin(), unit->sums.end(), [&](const Sum& known) { return known.axes == axes; });
  if (sum == unit->sums.end()) {
    sum = unit->sums.insert(unit->sums.end(), Sum{axes, {}});
  }
  sum->parameters.push_back(&parameter);
}

}  // namespace

using sharding::ParameterFacts;

at::Tensor rows_of(const at::Tensor& whole, const sharding::Interval& rows) {
  const at::Tensor listed = whole.dim() == 0 ? whole.view({1}) : whole;
  return listed.narrow(0, rows.begin, rows.size());
}

Result<std::unique_ptr<ParameterTable>> ParameterTable::create(tensor::Program& program,
                                                               std::vector<ParameterFacts> facts,
                                                               Options options) {
  if (options.stage != 0 && options.stage != 1) {
    return fail(ErrorCode::kUsage, concat("ZeRO stage must be 0 or 1, found ", options.stage));
  }
  std::unique_ptr<ParameterTable> table(
      new ParameterTable{program, std::move(facts), std::move(options)});
  for (const ParameterFacts& row : table->facts) {
    if (Result<void> added = table->add(row); !added) {
      return fail(added.error());
    }
  }
  for (const auto& parameter : table->parameters) {
    if (Result<void> tied = table->tie(*parameter); !tied) {
      return fail(tied.error());
    }
  }
  for (const bool owners : {true, false}) {  // a use may be listed before its owner
    for (const auto& parameter : table->parameters) {
      if ((parameter->owner == nullptr) == owners) {
        table->allocate(*parameter);
      }
    }
  }
  for (const auto& parameter : table->parameters) {
    table->list_in_units(*parameter);
  }
  return table;
}

Result<void> ParameterTable::add(const ParameterFacts& row) {
  if (by_name.contains(row.name)) {
    return fail(ErrorCode::kUsage, concat("parameter ", row.name, " is listed twice"));
  }
  Result<Placement> placement =
      place(program.mesh(), row, options.rules, options.data, options.parts);
  if (!placement) {
    return fail(placement.error());
  }
  const int64_t rank = program.rank();
  auto parameter = std::make_unique<Parameter>(
      Parameter{.facts = &row,
                .placement = *std::move(placement),
                .rows = {},
                .member = program.mesh().flattened_index(rank, options.data.shard),
                .is_counted = false,
                .owner = nullptr,
                .data = {},
                .leaf = {},
                .sum = GradientSum(options.accumulation),
                .gradient = {}});
  const int64_t members = program.mesh().axes_size(options.data.shard);
  for (int64_t member = 0; member < members; ++member) {
    parameter->rows.push_back(parameter->placement.shard_rows(row.shape, rank, member));
  }
  parameter->is_counted = !parameter->is_tied() && parameter->placement.is_first_copy(rank);
  by_name.emplace(row.name, parameter.get());
  parameters.push_back(std::move(parameter));
  return {};
}

Result<void> ParameterTable::tie(Parameter& use) {
  const auto owner = by_name.find(use.facts->tied_to);
  if (!use.is_tied() || owner == by_name.end()) {
    return {};
  }
  const ParameterFacts& owned = *owner->second->facts;
  if (owner->second->is_tied()) {
    return fail(ErrorCode::kUsage,
                concat("parameter ",
                       use.facts->name,
                       " is tied to ",
                       owned.name,
                       ", which is tied itself; tie it to ",
                       owned.tied_to));
  }
  if (owned.shape != use.facts->shape ||
      owner->second->placement.used.spec != use.placement.used.spec) {
    return fail(ErrorCode::kUsage,
                concat("tied parameters need equal shapes and placements; ",
                       use.facts->name,
                       " [",
                       join(use.facts->shape),
                       "] is ",
                       use.placement.used.spec.to_string(),
                       ", its owner ",
                       owned.name,
                       " [",
                       join(owned.shape),
                       "] is ",
                       owner->second->placement.used.spec.to_string()));
  }
  use.owner = owner->second;
  return {};
}

void ParameterTable::allocate(Parameter& parameter) {
  const sharding::Shape shape =
      parameter.placement.used.local_shape(parameter.facts->shape, program.rank());
  parameter.data = parameter.owner != nullptr
                       ? parameter.owner->data
                       : at::empty(shape, tensor::scalar_type_of(options.dtype));
  parameter.leaf =
      tensor::ShardedTensor(program,
                            {options.dtype, parameter.facts->shape, parameter.placement.used.spec},
                            parameter.data.detach().requires_grad_(true));
}

void ParameterTable::list_in_units(Parameter& parameter) {
  list_in(reduced_units, parameter);
  if (!parameter.is_tied()) {
    list_in(gathered_units, parameter);
  }
}

Parameter& ParameterTable::find(std::string_view name) const {
  const auto found = by_name.find(name);
  BRIGADE_CHECK(found != by_name.end(), name);
  return *found->second;
}

sharding::Interval ParameterTable::updated_rows(const Parameter& parameter) const {
  if (options.stage == 0) {
    return {0, parameter.rows.back().end};
  }
  return parameter.rows[static_cast<size_t>(parameter.member)];
}

at::Tensor ParameterTable::updated_gradient(const Parameter& parameter) const {
  return parameter.gradient.defined() ? rows_of(parameter.gradient, updated_rows(parameter))
                                      : at::Tensor();
}

}  // namespace brigade::zero
