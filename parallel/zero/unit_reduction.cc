// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/unit_reduction.h"

#include <utility>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "parallel/base/text.h"
#include "parallel/tensor/buffers.h"
#include "parallel/tensor/memory_meter.h"

namespace brigade::zero {
namespace {

using Phase = Unit::Phase;

sharding::Interval all_rows(const Parameter& parameter) {
  return {0, parameter.rows.back().end};
}

Result<void> wait_for(std::vector<collective::Work>& works) {
  for (collective::Work& work : works) {
    if (Result<void> done = work.wait(); !done) {
      return done;
    }
  }
  works.clear();
  return {};
}

}  // namespace

Result<void> Reductions::begin(Unit& unit) {
  const c10::NoGradGuard no_history;
  const tensor::CategoryScope counted(tensor::Category::kGradients);
  const std::vector<Unit*> before = under_way_;
  for (Unit* other : before) {
    if (Result<void> moved = advance(*other); !moved) {
      return moved;
    }
  }
  while (unit.phase != Phase::kIdle) {  // its reduction after the microbatch before
    if (Result<void> moved = advance(unit); !moved) {
      return moved;
    }
  }
  if (Result<void> taken = take_terms(unit); !taken) {
    return taken;
  }
  unit.is_unreduced = false;
  unit.is_last = unit.is_complete();
  unit.phase = Phase::kScattering;
  under_way_.push_back(&unit);
  if (casts_.shards()) {
    unit.works.push_back(casts_.scatter_gradients(unit));
    return {};
  }
  return advance(unit);
}

Result<void> Reductions::finish() {
  const c10::NoGradGuard no_history;
  const tensor::CategoryScope counted(tensor::Category::kGradients);
  while (!under_way_.empty()) {
    const std::vector<Unit*> units = under_way_;
    for (Unit* unit : units) {
      if (Result<void> moved = advance(*unit); !moved) {
        return moved;
      }
    }
  }
  return {};
}

void Reductions::clear() {
  for (Unit* unit : under_way_) {
    unit->works.clear();
    unit->phase = Phase::kIdle;
  }
  under_way_.clear();
}

Result<void> Reductions::take_terms(Unit& unit) const {
  const at::ScalarType wire = tensor::scalar_type_of(options_.wire);
  for (Parameter* parameter : unit.parameters) {
    at::Tensor sum = parameter->sum.finish();
    if (!sum.defined() && options_.missing == MissingGradient::kError) {
      return fail(ErrorCode::kUsage,
                  concat("parameter ",
                         parameter->facts->name,
                         " of unit ",
                         unit.name,
                         " got no gradient in this step: no loss depends on it"));
    }
    parameter->terms = sum.defined() ? sum.to(wire)
                                     : at::zeros(parameter->leaf.local().sizes(),
                                                 parameter->leaf.local().options().dtype(wire));
    const sharding::Interval own = parameter->rows[static_cast<size_t>(parameter->member)];
    const at::Tensor rows = rows_of(parameter->terms, own);
    // Rows of their own let go of the rest once they have arrived.
    parameter->result =
        options_.stage >= 2 && casts_.shards() ? at::empty(rows.sizes(), rows.options()) : rows;
  }
  return {};
}

Result<void> Reductions::advance(Unit& unit) {
  if (Result<void> done = wait_for(unit.works); !done) {
    return done;
  }
  switch (unit.phase) {
    case Phase::kIdle: return {};
    case Phase::kScattering: after_scatter(unit); break;
    case Phase::kSumming: after_sums(unit); break;
    case Phase::kGathering: after_gather(unit); break;
  }
  if (unit.phase == Phase::kIdle) {
    std::erase(under_way_, &unit);
  }
  return {};
}

void Reductions::after_scatter(Unit& unit) {
  for (Parameter* parameter : unit.parameters) {
    parameter->gradient = parameter->gradient.defined()
                              ? parameter->gradient.add_(parameter->result)
                              : parameter->result.to(at::kFloat);
    if (options_.stage >= 2) {
      parameter->terms.reset();
    }
    parameter->result.reset();
  }
  if (!unit.is_last) {
    unit.phase = Phase::kIdle;
    return;
  }
  for (Parameter* parameter : unit.parameters) {
    parameter->result = parameter->gradient.to(tensor::scalar_type_of(options_.wire));
  }
  for (const Sum& sum : unit.sums) {
    unit.works.push_back(casts_.sum_gradients(unit, sum));
  }
  unit.phase = Phase::kSumming;
  if (unit.works.empty()) {
    after_sums(unit);
  }
}

void Reductions::after_sums(Unit& unit) {
  if (options_.stage == 0 && casts_.shards()) {
    unit.works.push_back(casts_.gather_gradients(unit));
    unit.phase = Phase::kGathering;
    return;
  }
  for (Parameter* parameter : unit.parameters) {
    parameter->gradient = parameter->result.to(at::kFloat);
    parameter->result.reset();
    parameter->terms.reset();
  }
  unit.phase = Phase::kIdle;
}

void Reductions::after_gather(Unit& unit) const {
  for (Parameter* parameter : unit.parameters) {
    parameter->gradient = rows_of(parameter->terms, all_rows(*parameter)).to(at::kFloat);
    parameter->result.reset();
    parameter->terms.reset();
  }
  unit.phase = Phase::kIdle;
}

}  // namespace brigade::zero
