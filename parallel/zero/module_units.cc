// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/module_units.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"

namespace brigade::zero {

std::optional<size_t> Successors::visit(size_t unit) {
  if (last_ && last_ != unit) {
    next_[*last_] = unit;
  }
  last_ = unit;
  return next_[unit];
}

void Successors::end() {
  if (last_) {
    next_[*last_].reset();
  }
  last_.reset();
}

ModuleUnits::ModuleUnits(ParameterSet& set, const ModuleRows& rows, int64_t passes)
    : set_(set),
      rows_(rows),
      passes_(passes),
      arrived_(rows.trained.size(), 0),
      units_(set.units()),
      order_(set.units()),
      forward_(set.units()),
      backward_(set.units()) {
  std::iota(order_.rbegin(), order_.rend(), size_t{0});
  for (size_t row = 0; row < rows.trained.size(); ++row) {
    unit_of_.push_back(set.unit(rows.trained[row].facts.unit));
    units_[unit_of_[row]].rows.push_back(row);
  }
}

void ModuleUnits::move_in() {
  const c10::NoGradGuard no_history;
  std::map<std::string_view, at::Tensor> values;
  for (const ModuleRow& trained : rows_.trained) {
    values.emplace(trained.facts.name, trained.parameter);
  }
  value_or_throw(set_.load(
      [&](const sharding::ParameterFacts& facts, const sharding::Box& box, at::Tensor& out) {
        const at::Tensor& whole = values.at(facts.name);
        out.copy_(box.dims.empty() ? whole
                                   : whole.narrow(0, box.dims[0].begin, box.dims[0].size()));
        return Result<void>();
      }));
  value_or_throw(set_.gather());
  unshard();
  for (const ModuleRow& trained : rows_.trained) {
    leaves_.push_back(set_.weight(trained.facts.name).local());
    at::Tensor(trained.parameter).set_data(leaves_.back().detach());
  }
  reshard();
}

void ModuleUnits::make_whole(size_t unit) {
  units_[unit].is_whole = true;
  value_or_throw(set_.wait_whole(unit));
}

void ModuleUnits::prefetch(std::optional<size_t> unit) {
  if (unit && !units_[*unit].is_whole) {
    units_[*unit].is_whole = true;
    set_.unshard(*unit);
  }
}

void ModuleUnits::free(size_t unit) {
  if (units_[unit].is_whole) {
    make_whole(unit);  // a gather that nobody waited for must end first
    set_.reshard(unit);
    units_[unit].is_whole = false;
  }
}

void ModuleUnits::enter(size_t unit) {
  backward_.end();
  make_whole(unit);
  units_[unit].uses += 1;
  prefetch(forward_.visit(unit));
}

void ModuleUnits::leave(size_t unit) {
  units_[unit].uses -= 1;
  if (units_[unit].uses == 0) {
    free(unit);
  }
}

void ModuleUnits::before_backward(size_t unit) {
  forward_.end();
  make_whole(unit);
  prefetch(backward_.visit(unit));
}

bool ModuleUnits::wants_gradient(size_t row) const {
  return leaves_[row].numel() > 0;
}

void ModuleUnits::on_gradient(size_t row) {
  if (arrived_[row] == passes_) {
    throw Exception({ErrorCode::kUsage,
                     concat("parameter ",
                            rows_.trained[row].facts.name,
                            " got a gradient by backward pass ",
                            passes_ + 1,
                            " since the last step; ModuleOptions::passes, which stages 2 and 3 "
                            "need to know beforehand, is ",
                            passes_)});
  }
  arrived_[row] += 1;
  State& unit = units_[unit_of_[row]];
  const bool is_ready = std::all_of(unit.rows.begin(), unit.rows.end(), [&](size_t other) {
    return arrived_[other] > unit.gradients || !wants_gradient(other);
  });
  if (!is_ready) {
    return;
  }
  unit.gradients += 1;
  if (is_first_step_) {
    ready_.push_back(unit_of_[row]);
  }
  if (unit.uses == 0) {
    free(unit_of_[row]);
  }
  reduce_in_order(/*all=*/false);
}

void ModuleUnits::reduce_in_order(bool all) {
  const auto count = static_cast<int64_t>(order_.size());
  while (turn_ < passes_ * count) {
    const size_t unit = order_[static_cast<size_t>(turn_ % count)];
    if (!all && units_[unit].gradients <= units_[unit].reduced) {
      return;
    }
    turn_ += 1;
    reduce(unit);
  }
}

void ModuleUnits::reduce(size_t unit) {
  State& state = units_[unit];
  for (const size_t row : state.rows) {
    hand_over(row);
  }
  set_.accumulate(unit, state.reduced, passes_);
  state.reduced += 1;
  value_or_throw(set_.reduce(unit));
}

/// The module's gradient becomes that of the set's leaf.
void ModuleUnits::hand_over(size_t row) {
  at::Tensor parameter = rows_.trained[row].parameter;
  leaves_[row].mutable_grad() = std::exchange(parameter.mutable_grad(), at::Tensor());
}

void ModuleUnits::unshard() {
  for (size_t unit = 0; unit < units_.size(); ++unit) {
    prefetch(unit);
  }
  for (size_t unit = 0; unit < units_.size(); ++unit) {
    make_whole(unit);
  }
}

void ModuleUnits::reshard() {
  for (size_t unit = 0; unit < units_.size(); ++unit) {
    if (units_[unit].uses == 0) {
      free(unit);
    }
  }
}

int64_t ModuleUnits::first_moved() const {
  for (size_t row = 0; row < leaves_.size(); ++row) {
    if (!rows_.trained[row].parameter.is_alias_of(leaves_[row])) {
      return static_cast<int64_t>(row);
    }
  }
  return -1;
}

int64_t ModuleUnits::first_missing() const {
  for (size_t row = 0; row < leaves_.size(); ++row) {
    const bool has_one =
        reduces_in_backward() ? arrived_[row] > 0 : rows_.trained[row].parameter.grad().defined();
    if (wants_gradient(row) && !has_one) {
      return static_cast<int64_t>(row);
    }
  }
  return -1;
}

void ModuleUnits::finish() {
  reduce_in_order(/*all=*/true);
  value_or_throw(set_.reduce());
}

void ModuleUnits::agree_on_order(collective::Communicator& world) {
  if (!is_first_step_ || !reduces_in_backward()) {
    return;
  }
  is_first_step_ = false;
  std::vector<int64_t> order;
  std::set<size_t> known;
  for (const auto* units : {&ready_, &order_}) {  // those that never were ready come last
    for (const size_t unit : *units) {
      if (known.insert(unit).second) {
        order.push_back(static_cast<int64_t>(unit));
      }
    }
  }
  value_or_throw(world.broadcast({collective::bytes_of(std::span<int64_t>(order))}, 0).wait());
  order_.assign(order.begin(), order.end());
}

void ModuleUnits::end_step() {
  set_.clear_gradients();
  for (const ModuleRow& row : rows_.trained) {
    at::Tensor(row.parameter).mutable_grad().reset();
  }
  for (State& unit : units_) {
    unit.gradients = 0;
    unit.reduced = 0;
  }
  std::fill(arrived_.begin(), arrived_.end(), 0);
  turn_ = 0;
  forward_.end();
  backward_.end();
  reshard();
}

void ModuleUnits::settle() noexcept {
  for (size_t unit = 0; unit < units_.size(); ++unit) {
    if (units_[unit].is_whole) {
      // A failure here is one of the world, which whoever comes next is told.
      static_cast<void>(set_.wait_whole(unit));
    }
  }
}

}  // namespace brigade::zero
