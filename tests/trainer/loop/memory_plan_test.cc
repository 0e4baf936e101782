// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/memory_plan.h"

#include <vector>

#include <gtest/gtest.h>

#include "tests/trainer/loop/recipe.h"
#include "trainer/loop/model_shape.h"

namespace brigade::loop {
namespace {

using tensor::Category;
using tensor::CategoryBytes;

constexpr int64_t kRanks = 4;

mesh::Mesh data_mesh() {
  return value_or_throw(mesh::Mesh::create({{"dp_replicate", 1}, {"dp_shard", kRanks}, {"tp", 1}}));
}

StatePlan adamw(int stage) {
  StatePlan plan{.zero = {}, .states_per_element = 2};
  plan.zero.stage = stage;
  plan.zero.data = {.replicate = {"dp_replicate"}, .shard = {"dp_shard"}};
  return plan;
}

/// A model all of whose rows divide over the ranks.
std::vector<sharding::ParameterFacts> facts(bool tied = false) {
  return parameters_of(
      recipe({tied ? "model.tie_embeddings=true" : "model.tie_embeddings=false"}), 0, 1);
}

int64_t elements() {
  return model_of(recipe())->parameter_count();
}

CategoryBytes planned(const StatePlan& plan, bool tied = false) {
  return plan_states(value_or_throw(unit_elements(data_mesh(), 1, facts(tied), plan.zero)), plan);
}

/// Of a unit, elements.
int64_t largest_unit() {
  return largest_neighbours(value_or_throw(unit_elements(data_mesh(), 1, facts(), adamw(0).zero)),
                            &UnitElements::used,
                            1);
}

int64_t states(const CategoryBytes& bytes) {
  return bytes[Category::kParameters] + bytes[Category::kOptimizerStates];
}

TEST(MemoryPlan, FollowsTheFormulasOfEachStage) {
  const int64_t n = elements();
  EXPECT_EQ(states(planned(adamw(0))), 4 * n + 8 * n);
  EXPECT_EQ(states(planned(adamw(1))), 4 * n + 8 * n / kRanks);
  EXPECT_EQ(states(planned(adamw(2))), 4 * n + 8 * n / kRanks);
  EXPECT_EQ(states(planned(adamw(3))), 4 * n / kRanks + 8 * n / kRanks);
  EXPECT_EQ(planned(adamw(0))[Category::kGradients], 4 * n);
  EXPECT_EQ(planned(adamw(1))[Category::kGradients], 4 * n);
}

TEST(MemoryPlan, KeepsMastersOfTheUpdatedRowsBesideOtherWeights) {
  const int64_t n = elements();
  const auto parameters = [](int stage) {
    StatePlan plan = adamw(stage);
    plan.zero.dtype = DType::kBFloat16;
    return planned(plan)[Category::kParameters];
  };
  EXPECT_EQ(parameters(0), 2 * n + 4 * n);
  EXPECT_EQ(parameters(2), 2 * n + 4 * n / kRanks);
  EXPECT_EQ(parameters(3), 2 * n / kRanks + 4 * n / kRanks);
}

TEST(MemoryPlan, KeepsGradientsAsRowsFromStageTwoOnWithTwoUnitsPassingBy) {
  const StatePlan plan = adamw(2);
  const std::vector<UnitElements> units =
      value_or_throw(unit_elements(data_mesh(), 1, facts(), plan.zero));
  ASSERT_EQ(units.size(), 6U);  // embedding, four blocks, head
  EXPECT_EQ(units.front().name, "embedding");
  EXPECT_EQ(units.back().name, "head");
  const int64_t passing = std::max(units[0].used + units[1].used, units[1].used + units[2].used);
  EXPECT_EQ(planned(plan)[Category::kGradients], 4 * (elements() / kRanks + passing));
}

TEST(MemoryPlan, AddsWholePartialSumsWhenSeveralMicrobatchesAreReducedOnce) {
  StatePlan plan = adamw(3);
  plan.microbatches = 3;
  EXPECT_EQ(planned(plan)[Category::kGradients],
            4 * (elements() + largest_unit() + largest_unit() / kRanks));
  plan.reduces_each_microbatch = true;
  EXPECT_EQ(planned(plan)[Category::kGradients],
            planned(adamw(3))[Category::kGradients] + 4 * largest_unit() / kRanks);
}

TEST(MemoryPlan, CountsThePartialSumsOfATree) {
  using Order = zero::GradientSum::Order;
  EXPECT_EQ(partial_sums(8, Order::kRunning), 1);
  EXPECT_EQ(partial_sums(1, Order::kTree), 1);
  EXPECT_EQ(partial_sums(2, Order::kTree), 1);
  EXPECT_EQ(partial_sums(4, Order::kTree), 2);  // microbatches 0-1 and 2
  EXPECT_EQ(partial_sums(8, Order::kTree), 3);
  StatePlan plan = adamw(1);
  plan.microbatches = 4;
  plan.zero.accumulation = Order::kTree;
  EXPECT_EQ(planned(plan)[Category::kGradients], 4 * (2 * elements() + largest_unit()));
}

TEST(MemoryPlan, GathersTheLargestNeighboursAtStageThreeAlone) {
  EXPECT_EQ(planned(adamw(2))[Category::kGathered], 0);
  StatePlan plan = adamw(3);
  const std::vector<UnitElements> units =
      value_or_throw(unit_elements(data_mesh(), 1, facts(), plan.zero));
  const int64_t block = 4 * units[1].gathered;
  const int64_t head = 4 * units.back().gathered;
  EXPECT_EQ(block, 4 * units[1].used);
  EXPECT_EQ(planned(plan)[Category::kGathered], block + std::max(block, head));
  plan.whole_units = 1;
  EXPECT_EQ(planned(plan)[Category::kGathered], std::max(block, head));
  plan.whole_units = 0;
  EXPECT_EQ(planned(plan)[Category::kGathered], 4 * elements());
}

TEST(MemoryPlan, LeavesSmallParametersWhole) {
  StatePlan plan = adamw(3);
  plan.zero.replicate_below = 100;  // the gains of 32
  const int64_t gains = 9 * 32;
  EXPECT_EQ(planned(plan)[Category::kParameters], 4 * ((elements() - gains) / kRanks + gains));
}

TEST(MemoryPlan, CountsATiedTableOnceAndItsGradientPerUse) {
  const int64_t table = 96 * 32;
  const CategoryBytes bytes = planned(adamw(0), true);
  EXPECT_EQ(states(bytes), 12 * (elements() - table));
  EXPECT_EQ(bytes[Category::kGradients], 4 * elements());
}

TEST(MemoryPlan, NamesAParameterThatCannotBePlaced) {
  StatePlan plan = adamw(1);
  plan.zero.rules = {{"embed", {"dp_shard"}}};
  const auto units = unit_elements(data_mesh(), 0, facts(), plan.zero);
  ASSERT_FALSE(units);
  EXPECT_EQ(units.error().code, ErrorCode::kUsage);
}

TEST(MemoryPlan, ActivationsAreMostInTheBackwardThatFindsMost) {
  ActivationPlan plan{.units = {{10, 10, 1}, {20, 20, 5}, {40, 40, 30}}, .in_flight = 1, .held = 7};
  EXPECT_EQ(plan_activations(plan), 7 + 10 + 20 + 40 + 30);
  plan.in_flight = 3;
  EXPECT_EQ(plan_activations(plan), 7 + 2 * 70 + 100);
  // A block that runs its forward again has all of its activations then.
  plan = {.units = {{1, 1, 0}, {2, 200, 50}, {3, 3, 1}}, .in_flight = 2, .held = 0};
  EXPECT_EQ(plan_activations(plan), 6 + 1 + 200 + 50);
}

}  // namespace
}  // namespace brigade::loop
