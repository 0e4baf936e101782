// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/update.h"

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/tensor/program.h"
#include "tests/support/rank_threads.h"
#include "tests/trainer/loop/recipe.h"

namespace brigade::loop {
namespace {

TEST(Update, TakesItsLearningRateFromTheRecipe) {
  const optim::LearningRateSchedule rates = value_or_throw(learning_rate_of(recipe()));
  EXPECT_DOUBLE_EQ(rates.at(1), 5e-4) << "the first of 2 warm-up steps";
  EXPECT_DOUBLE_EQ(rates.at(2), 1e-3);
  EXPECT_LT(rates.at(10), 1e-3) << "decays to the end of training.steps";
}

/// A matrix of ones, decayed, and a gain of ones, with gradients of 2.
void with_parameters(const std::function<void(zero::ParameterSet&)>& body) {
  testing::run_ranks(1, [&](collective::World& world) {
    const mesh::Mesh mesh =
        value_or_throw(mesh::Mesh::create({{"dp_replicate", 1}, {"dp_shard", 1}, {"tp", 1}}));
    tensor::Program program(mesh, 0, [&](const auto& members, const std::string& name) {
      return world.group(members, name);
    });
    const sharding::Initializer ones{sharding::Initializer::Kind::kOnes, 0.0};
    zero::Options options;
    options.data = {.replicate = {"dp_replicate"}, .shard = {"dp_shard"}};
    const auto parameters = value_or_throw(
        zero::ParameterSet::create(program,
                                   {{"matrix", {2, 3}, {"a", "b"}, ones, true, "", "unit"},
                                    {"gain", {3}, {"norm"}, ones, false, "", "unit"}},
                                   options));
    parameters->initialize(1);
    value_or_throw(parameters->reduce());
    for (const zero::Shard& shard : parameters->shards()) {
      shard.gradient.fill_(2.0);
    }
    body(*parameters);
  });
}

float value_of(zero::ParameterSet& parameters, const std::string& name) {
  const at::Tensor& data = parameters.stored_weight(name);
  EXPECT_TRUE(data.eq(data.view(-1)[0]).all().item<bool>()) << "all elements had one history";
  return data.view(-1)[0].item<float>();
}

TEST(Update, StepsBySgdWithDecayOfMatricesAlone) {
  with_parameters([](zero::ParameterSet& parameters) {
    ShardOptimizer optimizer(
        recipe({"optimizer.name=SGD", "optimizer.weight_decay=0.5", "training.max_norm=0"}),
        parameters);
    optimizer.update(0.1, 6.0);
    EXPECT_FLOAT_EQ(value_of(parameters, "matrix"), 1.0F - 0.1F * (2.0F + 0.5F));
    EXPECT_FLOAT_EQ(value_of(parameters, "gain"), 1.0F - 0.1F * 2.0F);
  });
}

TEST(Update, UsesTheGradientThatTheNormOfAllRanksLeaves) {
  with_parameters([](zero::ParameterSet& parameters) {
    ShardOptimizer optimizer(
        recipe({"optimizer.name=SGD", "optimizer.weight_decay=0.0", "training.max_norm=1.0"}),
        parameters);
    optimizer.update(0.1, 8.0);
    EXPECT_FLOAT_EQ(value_of(parameters, "gain"), 1.0F - 0.1F * 2.0F / 8.0F);
  });
}

TEST(Update, CountsItsOwnStepsForAdamW) {
  with_parameters([](zero::ParameterSet& parameters) {
    ShardOptimizer optimizer(recipe({"optimizer.weight_decay=0.0", "training.max_norm=0"}),
                             parameters);
    // With equal gradients every corrected step is as long as the learning rate.
    for (int step = 1; step <= 3; ++step) {
      optimizer.update(0.125, 6.0);
      EXPECT_NEAR(value_of(parameters, "gain"), 1.0 - 0.125 * step, 1e-5) << step;
    }
    EXPECT_EQ(optimizer.states().state().size(), 4U) << "two moments for each parameter";
  });
}

}  // namespace
}  // namespace brigade::loop
