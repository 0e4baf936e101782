// SPDX-License-Identifier: Apache-2.0
/// Field reports about first weights: a function of seed and name, whatever the mesh.
#include <cmath>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/layouts.h"

namespace brigade::end_to_end {
namespace {

Outcome untrained(const Degrees& degrees, const Settings& settings = {}) {
  return train(trial_of(degrees, settings), random_tokens(96, 16, 100), 0);
}

TEST(FieldReport, R016_StartsFromTheSameWeightsOnEveryMesh) {
  const Outcome one = untrained({});
  for (const Degrees& degrees : {Degrees{.shard = 4},
                                 Degrees{.replicate = 2, .shard = 2},
                                 Degrees{.tp = 2},
                                 Degrees{.tp = 4},
                                 Degrees{.pp = 4},
                                 Degrees{.shard = 2, .tp = 2, .pp = 2}}) {
    for (const Way& way : ways(degrees)) {
      SCOPED_TRACE(degrees.name() + " " + way.name);
      expect_same_bits(untrained(degrees, way.settings), one);
    }
  }
}

TEST(FieldReport, R016_StartsFromOtherWeightsWithAnotherSeed) {
  const Outcome one = untrained({});
  const Outcome other = untrained({}, {"debug.seed=8"});
  for (const auto& [name, value] : one.parameters) {
    const bool is_gain = name.find("norm") != std::string::npos;
    EXPECT_EQ(at::equal(value, other.parameters.at(name)), is_gain) << name;
  }
}

/// What each rank holds of `name` before the first step.
std::map<int64_t, at::Tensor> pieces(const Degrees& degrees, const std::string& name) {
  std::map<int64_t, at::Tensor> held;
  std::mutex mutex;
  Trial trial = trial_of(degrees);
  trial.prepare = [&](loop::Trainer& trainer, collective::World& world) {
    const std::lock_guard<std::mutex> lock(mutex);
    held[world.rank()] = trainer.parameters().weight(name).local().detach().clone();
  };
  train(trial, random_tokens(96, 16, 100), 0);
  return held;
}

TEST(FieldReport, R016_GivesEachTensorRankItsOwnPart) {
  for (const char* name : {"model.embed_tokens.weight",
                           "lm_head.weight",
                           "model.layers.0.self_attn.q_proj.weight",
                           "model.layers.0.self_attn.o_proj.weight",
                           "model.layers.3.mlp.gate_proj.weight",
                           "model.layers.3.mlp.down_proj.weight"}) {
    const std::map<int64_t, at::Tensor> held = pieces({.tp = 4}, name);
    ASSERT_EQ(held.size(), 4U);
    for (int64_t rank = 1; rank < 4; ++rank) {
      for (int64_t other = 0; other < rank; ++other) {
        EXPECT_FALSE(at::equal(held.at(rank), held.at(other))) << name << ' ' << rank << other;
      }
    }
  }
}

TEST(FieldReport, R017_SpreadsRowParallelWeightsAlikeForAnyTensorDegree) {
  const Outcome one = untrained({});
  const double wanted = 0.02 / std::sqrt(2.0 * 4);  // by depth alone: 4 layers
  for (const int64_t tp : {2, 4}) {
    for (const Way& way : ways({.tp = tp})) {
      const Outcome found = untrained({.tp = tp}, way.settings);
      for (int layer = 0; layer < 4; ++layer) {
        for (const char* matrix : {"self_attn.o_proj", "mlp.down_proj"}) {
          const std::string name = concat("model.layers.", layer, '.', matrix, ".weight");
          SCOPED_TRACE(concat(name, " tp", tp, ' ', way.name));
          const at::Tensor& value = found.parameters.at(name);
          EXPECT_TRUE(at::equal(value, one.parameters.at(name)));
          EXPECT_NEAR(value.std().item<double>() / wanted, 1.0, 0.1);
        }
      }
    }
  }
}

}  // namespace
}  // namespace brigade::end_to_end
