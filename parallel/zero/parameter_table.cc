// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/parameter_table.h"

#include <algorithm>
#include <utility>

#include <ATen/ATen.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/tensor/buffers.h"
#include "parallel/tensor/memory_meter.h"
#include "parallel/zero/borrowed_storage.h"

namespace brigade::zero {
namespace {

/// Index of the unit of this name, which is made if there is none.
size_t unit_named(std::vector<Unit>& units, const std::string& name) {
  const auto known = std::ranges::find(units, name, &Unit::name);
  const auto index = static_cast<size_t>(known - units.begin());
  if (known == units.end()) {
    units.emplace_back(Unit{name});
  }
  return index;
}

/// The sum over `axes` of a unit.
Sum& sum_over(Unit& unit, const mesh::AxisNames& axes) {
  const auto known =
      std::ranges::find_if(unit.sums, [&](const Sum& sum) { return sum.axes == axes; });
  return known != unit.sums.end() ? *known : unit.sums.emplace_back(Sum{axes, {}});
}

}  // namespace

using sharding::ParameterFacts;

std::string not_gathered(const ParameterFacts& facts) {
  return concat("parameter ",
                facts.name,
                " is not gathered now: it belongs to unit ",
                facts.unit,
                " and can be used inside of that unit's forward and backward alone");
}

at::Tensor rows_of(const at::Tensor& whole, const sharding::Interval& rows) {
  const at::Tensor listed = whole.dim() == 0 ? whole.view({1}) : whole;
  return listed.narrow(0, rows.begin, rows.size());
}

Result<std::unique_ptr<ParameterTable>> ParameterTable::create(tensor::Program& program,
                                                               std::vector<ParameterFacts> facts,
                                                               Options options) {
  const tensor::CategoryScope counted(tensor::Category::kParameters);
  std::unique_ptr<ParameterTable> table(
      new ParameterTable{program, std::move(facts), std::move(options)});
  if (Result<void> possible = table->check(); !possible) {
    return fail(possible.error());
  }
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
    table->list_in_unit(*parameter);
  }
  return table;
}

Result<void> ParameterTable::check() const {
  if (options.stage < 0 || options.stage > 3) {
    return fail(ErrorCode::kUsage,
                concat("ZeRO stage: expected 0, 1, 2 or 3; found ", options.stage));
  }
  return {};
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
                .sum = GradientSum(options.accumulation)});
  const int64_t members = program.mesh().axes_size(options.data.shard);
  parameter->is_sharded = options.stage == 3 && members > 1 &&
                          sharding::element_count(row.shape) >= options.replicate_below;
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
  const at::TensorOptions compute = at::dtype(tensor::scalar_type_of(options.dtype));
  const sharding::Shape used =
      parameter.placement.used.local_shape(parameter.facts->shape, program.rank());
  const sharding::Interval rows = updated_rows(parameter);
  at::Tensor whole = at::empty(used, compute);
  if (parameter.owner != nullptr) {
    parameter.stored = parameter.owner->stored;
  } else {
    parameter.stored =
        parameter.is_sharded ? at::empty(rows_of(whole, rows).sizes(), compute) : whole;
    const at::Tensor updated =
        parameter.is_sharded ? parameter.stored : rows_of(parameter.stored, rows);
    if (!parameter.is_tied()) {
      parameter.master = updated.to(at::kFloat);  // itself, if it is fp32
    }
  }
  if (parameter.is_sharded) {
    free_storage(whole, not_gathered(*parameter.facts));
  } else {
    whole = parameter.stored;
  }
  parameter.leaf =
      tensor::ShardedTensor(program,
                            {options.dtype, parameter.facts->shape, parameter.placement.used.spec},
                            whole.detach().requires_grad_(true));
}

void ParameterTable::list_in_unit(Parameter& parameter) {
  parameter.unit = unit_named(units, parameter.facts->unit);
  Unit& unit = units[parameter.unit];
  unit.parameters.push_back(&parameter);
  if (parameter.is_sharded) {
    unit.sharded.push_back(&parameter);
    unit.is_whole = false;
  } else if (!parameter.is_tied() && options.stage > 0) {
    unit.refreshed.push_back(&parameter);
  }
  if (const mesh::AxisNames& axes = parameter.placement.sum_axes; !axes.empty()) {
    sum_over(unit, axes).parameters.push_back(&parameter);
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

sharding::Box ParameterTable::updated_box(const Parameter& parameter) const {
  return updated_box(parameter, program.rank());
}

sharding::Box ParameterTable::updated_box(const Parameter& parameter, int64_t rank) const {
  const sharding::NamedSharding& place =
      options.stage == 0 ? parameter.placement.used : parameter.placement.shard;
  return place.box(parameter.facts->shape, rank);
}

}  // namespace brigade::zero
