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
Outcome decay_once(const Degrees& degrees, const Settings& settings) {
  Trial trial = trial_of(degrees, kDecay + settings);
  trial.prepare = [](loop::Trainer& trainer, collective::World&) {
    for (const sharding::ParameterFacts& facts : trainer.parameters().facts()) {
      hook_gradient(trainer, facts.name, [](const at::Tensor& gradient, int64_t) {
        return at::zeros_like(gradient);
      });
    }
  };
  return train(trial, random_tokens(96, 16, 100), 1);
}

void expect_decayed(const Degrees& degrees, const Settings& settings, bool norms) {
  const Outcome start = train(trial_of({}, settings), random_tokens(96, 16, 100), 0);
  for (const Way& way : ways(degrees)) {
    SCOPED_TRACE(degrees.name() + " " + way.name);
    const Outcome found = decay_once(degrees, settings + way.settings);
    EXPECT_EQ(found.norms()[0], 0.0);
    ASSERT_EQ(found.parameters.size(), start.parameters.size());
    for (const auto& [name, value] : start.parameters) {
      const bool is_norm = name.find("norm") != std::string::npos;
      const at::Tensor wanted = is_norm && !norms ? value : value * (1.0 - 0.01);
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

TEST(FieldReport, R019_DecaysNormsWhenAskedTo) {
  expect_decayed({.shard = 2}, {"optimizer.decay=all"}, true);
}

}  // namespace
}  // namespace brigade::end_to_end
