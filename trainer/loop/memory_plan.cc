// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/memory_plan.h"

#include <algorithm>
#include <bit>

namespace brigade::loop {
namespace {

using tensor::Category;

UnitBytes& unit_named(std::vector<UnitBytes>& units, const std::string& name) {
  const auto found = std::ranges::find(units, name, &UnitBytes::name);
  if (found != units.end()) {
    return *found;
  }
  return units.emplace_back(UnitBytes{.name = name});
}

bool held_elsewhere(const sharding::ParameterFacts& row,
                    const std::vector<sharding::ParameterFacts>& facts) {
  return !row.tied_to.empty() &&
         std::ranges::find(facts, row.tied_to, &sharding::ParameterFacts::name) != facts.end();
}

int64_t sum_of(const std::vector<UnitBytes>& units, int64_t UnitBytes::*part) {
  int64_t sum = 0;
  for (const UnitBytes& unit : units) {
    sum += unit.*part;
  }
  return sum;
}

/// The most of `count` neighbours; 0: of all.
int64_t largest_neighbours(const std::vector<UnitBytes>& units,
                           int64_t UnitBytes::*part,
                           int64_t count) {
  if (count == 0 || count >= std::ssize(units)) {
    return sum_of(units, part);
  }
  int64_t window = 0;
  int64_t largest = 0;
  for (size_t i = 0; i < units.size(); ++i) {
    window += units[i].*part;
    if (i >= static_cast<size_t>(count)) {
      window -= units[i - static_cast<size_t>(count)].*part;
    }
    largest = std::max(largest, window);
  }
  return largest;
}

int64_t gradient_bytes(const std::vector<UnitBytes>& units, const StatePlan& plan, bool sharded) {
  const int64_t single = size_of(DType::kFloat32);
  const int64_t sums =
      sum_of(units, &UnitBytes::used) * partial_sums(plan.microbatches, plan.adds_along_tree);
  if (!sharded) {
    return sums * single;
  }
  const bool once = plan.microbatches > 1 && !plan.reduces_each_microbatch;
  const int64_t passing = largest_neighbours(units, &UnitBytes::used, 2);
  return (sum_of(units, &UnitBytes::reduced) + (once ? sums : passing)) * single;
}

}  // namespace

Result<std::vector<UnitBytes>> unit_bytes(const mesh::Mesh& mesh,
                                          int64_t rank,
                                          const std::vector<sharding::ParameterFacts>& facts,
                                          const StatePlan& plan) {
  const bool splits = mesh.axes_size(plan.data.shard) > 1;
  const int64_t element = size_of(plan.dtype);
  std::vector<UnitBytes> units;
  for (const sharding::ParameterFacts& row : facts) {
    const Result<zero::Placement> placement =
        zero::place(mesh, row, plan.rules, plan.data, plan.parts);
    if (!placement) {
      return fail(placement.error());
    }
    UnitBytes& unit = unit_named(units, row.unit);
    const int64_t used = placement->used.box(row.shape, rank).element_count();
    const int64_t shard = placement->shard.box(row.shape, rank).element_count();
    const bool comes_and_goes =
        plan.stage == 3 && splits && sharding::element_count(row.shape) >= plan.replicate_below;
    unit.used += used;
    unit.reduced += plan.stage >= 2 ? shard : used;
    unit.gathered += comes_and_goes ? used * element : 0;
    if (!held_elsewhere(row, facts)) {
      unit.stored += (comes_and_goes ? shard : used) * element;
    }
    if (row.tied_to.empty()) {
      const int64_t updated = plan.stage >= 1 ? shard : used;
      unit.updated += updated;
      unit.masters += plan.dtype == DType::kFloat32 ? 0 : updated * size_of(DType::kFloat32);
    }
  }
  return units;
}

int64_t partial_sums(int64_t microbatches, bool along_tree) {
  int most = 1;
  for (int64_t done = 1; along_tree && done < microbatches; ++done) {
    most = std::max(most, std::popcount(static_cast<uint64_t>(done)));
  }
  return most;
}

tensor::CategoryBytes plan_states(const std::vector<UnitBytes>& units, const StatePlan& plan) {
  tensor::CategoryBytes bytes;
  bytes[Category::kParameters] =
      sum_of(units, &UnitBytes::stored) + sum_of(units, &UnitBytes::masters);
  bytes[Category::kGradients] = gradient_bytes(units, plan, plan.stage >= 2);
  bytes[Category::kOptimizerStates] =
      sum_of(units, &UnitBytes::updated) * plan.states_per_element * size_of(DType::kFloat32);
  bytes[Category::kGathered] = largest_neighbours(units, &UnitBytes::gathered, plan.whole_units);
  if (plan.wire != DType::kFloat32) {
    bytes[Category::kCommunication] =
        largest_neighbours(units, &UnitBytes::used, 2) * size_of(plan.wire);
  }
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
