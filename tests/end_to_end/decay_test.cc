// SPDX-License-Identifier: Apache-2.0
/// Field report about weight decay: which parameters, and once.
#include <string>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/layouts.h"
#include "tests/end_to_end/leaf_hooks.h"

namespace brigade::end_to_end {
namespace {

const Settings kDecay = {"optimizer.name=AdamW", "optimizer.lr=0.1", "optimizer.weight_decay=0.1"};

/// One step in which every gradient is zero.
Outcome decay_once(const Degrees& degrees, const Settings& settings, const char* recipe) {
  Trial trial = trial_of(degrees, kDecay + settings);
  trial.recipe = recipe;
  trial.prepare = [](loop::Trainer& trainer, collective::World&) {
    with_whole_weights(trainer, [&] {
      for (const sharding::ParameterFacts& facts : trainer.parameters().facts()) {
        hook_gradient(trainer, facts.name, [](const at::Tensor& gradient, int64_t) {
          return at::zeros_like(gradient);
        });
      }
    });
  };
  return train(trial, random_tokens(96, 16, 100), 1);
}

bool is_matrix(const std::string& name) {
  return name.find("norm") == std::string::npos && name.find(".ln_") == std::string::npos &&
         !name.ends_with(".bias");
}

void expect_decayed(const Degrees& degrees,
                    const Settings& settings,
                    bool all,
                    const char* recipe = testing::kSmallRecipe) {
  Trial untrained = trial_of({}, settings);
  untrained.recipe = recipe;
  const Outcome start = train(untrained, random_tokens(96, 16, 100), 0);
  for (const Way& way : ways(degrees)) {
    SCOPED_TRACE(degrees.name() + " " + way.name);
    const Outcome found = decay_once(degrees, settings + way.settings, recipe);
    EXPECT_EQ(found.norms()[0], 0.0);
    ASSERT_EQ(found.parameters.size(), start.parameters.size());
    for (const auto& [name, value] : start.parameters) {
      const at::Tensor wanted = all || is_matrix(name) ? value * (1.0 - 0.01) : value;
      EXPECT_TRUE(at::equal(found.parameters.at(name), wanted)) << name;
    }
  }
}

TEST(FieldReport, R019_DecaysMatricesAndNoNorms) {
  for (const Degrees& degrees : {Degrees{}, Degrees{.shard = 2}, Degrees{.tp = 2}}) {
    expect_decayed(degrees, {}, false);
  }
}

TEST(FieldReport, R019_DecaysATiedTableOnce) {
  for (const Degrees& degrees :
       {Degrees{}, Degrees{.shard = 2}, Degrees{.tp = 2}, Degrees{.pp = 2}}) {
    expect_decayed(degrees, {"model.tie_embeddings=true"}, false);
  }
}

TEST(FieldReport, R019_DecaysNoBiasOfAGpt2AndItsTiedTableOnce) {
  const Settings heads = {"model.n_heads=4"};
  for (const Degrees& degrees : {Degrees{.shard = 2}, Degrees{.tp = 2}, Degrees{.pp = 2}}) {
    expect_decayed(degrees, heads, false, kGpt2Recipe);
  }
}

TEST(FieldReport, R019_DecaysNormsWhenAskedTo) {
  expect_decayed({.shard = 2}, {"optimizer.decay=all"}, true);
}

}  // namespace
}  // namespace brigade::end_to_end
