// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/memory_plan.h"

#include <algorithm>
#include <bit>

namespace brigade::loop {
namespace {

using tensor::Category;

UnitElements& unit_named(std::vector<UnitElements>& units, const std::string& name) {
  const auto found = std::ranges::find(units, name, &UnitElements::name);
  return found != units.end() ? *found : units.emplace_back(UnitElements{.name = name});
}

/// Its memory is that of another of them.
bool shares_memory(const sharding::ParameterFacts& row,
                   const std::vector<sharding::ParameterFacts>& facts) {
  return !row.tied_to.empty() &&
         std::ranges::find(facts, row.tied_to, &sharding::ParameterFacts::name) != facts.end();
}

int64_t gradient_elements(const std::vector<UnitElements>& units, const StatePlan& plan) {
  const bool adds = plan.microbatches > 1;
  const int64_t sums =
      sum_of(units, &UnitElements::used) * partial_sums(plan.microbatches, plan.zero.accumulation) +
      (adds ? largest_neighbours(units, &UnitElements::used, 1) : 0);
  if (plan.zero.stage < 2) {
    return sums;
  }
  // Where rows are added to, those that come in.
  const int64_t incoming = adds ? largest_neighbours(units, &UnitElements::reduced, 1) : 0;
  const int64_t passing = sum_of(units, &UnitElements::reduced) +
                          largest_neighbours(units, &UnitElements::used, 2) + incoming;
  const bool once = adds && !plan.reduces_each_microbatch;
  return once ? std::max(sums + incoming, passing) : passing;
}

}  // namespace

Result<std::vector<UnitElements>> unit_elements(const mesh::Mesh& mesh,
                                                int64_t rank,
                                                const std::vector<sharding::ParameterFacts>& facts,
                                                const zero::Options& options) {
  const bool splits = mesh.axes_size(options.data.shard) > 1;
  std::vector<UnitElements> units;
  for (const sharding::ParameterFacts& row : facts) {
    const Result<zero::Placement> placement =
        zero::place(mesh, row, options.rules, options.data, options.parts);
    if (!placement) {
      return fail(placement.error());
    }
    const int64_t used = placement->used.box(row.shape, rank).element_count();
    const int64_t shard = placement->shard.box(row.shape, rank).element_count();
    const bool comes_and_goes = options.stage == 3 && splits &&
                                sharding::element_count(row.shape) >= options.replicate_below;
    UnitElements& unit = unit_named(units, row.unit);
    unit.used += used;
    unit.gathered += comes_and_goes ? used : 0;
    unit.stored += shares_memory(row, facts) ? 0 : comes_and_goes ? shard : used;
    unit.updated += !row.tied_to.empty() ? 0 : options.stage >= 1 ? shard : used;
    unit.reduced += options.stage >= 2 ? shard : used;
  }
  return units;
}

int64_t sum_of(const std::vector<UnitElements>& units, int64_t UnitElements::*part) {
  return largest_neighbours(units, part, std::ssize(units));
}

int64_t largest_neighbours(const std::vector<UnitElements>& units,
                           int64_t UnitElements::*part,
                           int64_t count) {
  const size_t width =
      count == 0 ? units.size() : std::min(units.size(), static_cast<size_t>(count));
  int64_t window = 0;
  int64_t largest = 0;
  for (size_t i = 0; i < units.size(); ++i) {
    window += units[i].*part - (i >= width ? units[i - width].*part : 0);
    largest = std::max(largest, window);
  }
  return largest;
}

int64_t partial_sums(int64_t microbatches, zero::GradientSum::Order order) {
  int most = 1;
  for (int64_t done = 1; order == zero::GradientSum::Order::kTree && done < microbatches; ++done) {
    most = std::max(most, std::popcount(static_cast<uint64_t>(done)));
  }
  return most;
}

tensor::CategoryBytes plan_states(const std::vector<UnitElements>& units, const StatePlan& plan) {
  const int64_t single = size_of(DType::kFloat32);
  const int64_t compute = size_of(plan.zero.dtype);
  const int64_t updated = sum_of(units, &UnitElements::updated);
  tensor::CategoryBytes bytes;
  bytes[Category::kParameters] = sum_of(units, &UnitElements::stored) * compute +
                                 (plan.zero.dtype == DType::kFloat32 ? 0 : updated * single);
  bytes[Category::kGradients] = gradient_elements(units, plan) * single;
  if (plan.zero.dtype != DType::kFloat32) {  // as backward makes them, until they are widened
    bytes[Category::kGradients] += largest_neighbours(units, &UnitElements::used, 1) * compute;
  }
  bytes[Category::kOptimizerStates] = updated * plan.states_per_element * single;
  bytes[Category::kGathered] =
      largest_neighbours(units, &UnitElements::gathered, plan.whole_units) * compute;
  return bytes;
}

int64_t plan_activations(const ActivationPlan& plan) {
  int64_t before = 0;  // kept by the units that still wait for their backward
  int64_t most = 0;
  for (const UnitPlan& unit : plan.units) {
    most = std::max(most, before + unit.saved + unit.working);
    before += unit.kept;
  }
  return plan.held + (plan.in_flight - 1) * before + most;
}

}  // namespace brigade::loop
