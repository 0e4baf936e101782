// SPDX-License-Identifier: Apache-2.0
/// Field report about a parameter that gets no gradient on some ranks: it counts as zeros, or is an
/// error that names it; nobody hangs.
#include <algorithm>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/layouts.h"
#include "tests/end_to_end/leaf_hooks.h"
#include "tests/support/rank_threads.h"

namespace brigade::end_to_end {
namespace {

const std::string kName = "model.layers.2.mlp.up_proj.weight";
const Settings kRecipe = {"training.microbatch_size=2"};

/// Which ranks have no gradient of kName.
using Lacks = std::function<bool(int64_t world_rank)>;

/// What is done to a rank's leaf of kName before the first step.
using Change = std::function<void(loop::Trainer& trainer)>;

void unused(loop::Trainer& trainer) {
  at::Tensor leaf = trainer.parameters().weight(kName).local();
  leaf.set_requires_grad(false);
}

void zero(loop::Trainer& trainer) {
  hook_gradient(
      trainer, kName, [](const at::Tensor& gradient, int64_t) { return at::zeros_like(gradient); });
}

Trial trial(const Degrees& degrees,
            const Settings& settings,
            const Lacks& lacks,
            const Change& change) {
  Trial made = trial_of(degrees, kRecipe + settings);
  made.prepare = [=](loop::Trainer& trainer, collective::World& world) {
    with_whole_weights(trainer, [&] {
      if (lacks(world.rank())) {
        change(trainer);
      }
    });
  };
  return made;
}

const std::vector<Degrees> kMeshes = {{.shard = 2}, {.shard = 3}, {.shard = 2, .tp = 2}};

TEST(FieldReport, R065_CountsAMissingGradientAsZerosOnEveryRank) {
  const auto source = random_tokens(96, 16, 100);
  for (const Degrees& degrees : kMeshes) {
    for (const Way& way : zero_ways(degrees)) {
      for (const Lacks& lacks :
           {Lacks([](int64_t rank) { return rank == 1; }), Lacks([](int64_t) { return true; })}) {
        SCOPED_TRACE(degrees.name() + " " + way.name);
        expect_same_bits(train(trial(degrees, way.settings, lacks, unused), source, 2),
                         train(trial(degrees, way.settings, lacks, zero), source, 2));
      }
    }
  }
}

/// Every rank's error.
std::vector<Error> failures(const Trial& trial) {
  std::vector<Error> found;
  std::mutex mutex;
  testing::run_ranks(trial.ranks, [&](collective::World& world) {
    const Result<void> done = run_on(world, trial, random_tokens(96, 16, 100), 1);
    ASSERT_FALSE(done) << "rank " << world.rank() << " did not fail";
    const std::lock_guard<std::mutex> lock(mutex);
    found.push_back(done.error());
  });
  return found;
}

TEST(MissingGradients, AreAnErrorThatNamesTheParameterOnAllRanks) {
  for (const Degrees& degrees : {Degrees{}, Degrees{.shard = 2}, Degrees{.shard = 2, .tp = 2}}) {
    for (const Way& way : zero_ways(degrees)) {
      for (const Lacks& lacks : {Lacks([&](int64_t rank) { return rank + 1 == degrees.ranks(); }),
                                 Lacks([](int64_t) { return true; })}) {
        SCOPED_TRACE(degrees.name() + " " + way.name);
        const std::vector<Error> errors = failures(trial(
            degrees, way.settings + Settings{"training.missing_gradients=error"}, lacks, unused));
        ASSERT_EQ(errors.size(), static_cast<size_t>(degrees.ranks()));
        EXPECT_GE(std::ranges::count(errors, ErrorCode::kUsage, &Error::code), 1)
            << "of the first rank to fail";
        for (const Error& error : errors) {
          EXPECT_TRUE(error.code == ErrorCode::kUsage || error.code == ErrorCode::kAborted);
          EXPECT_NE(
              error.text.find(concat("parameter ", kName, " of unit block.2 got no gradient")),
              std::string::npos)
              << error.text;
        }
      }
    }
  }
}

TEST(MissingGradients, AreNoneWhereEveryParameterIsUsed) {
  const auto source = random_tokens(96, 16, 100);
  const Settings strict = kRecipe + Settings{"training.missing_gradients=error"};
  for (const Way& way : zero_ways({.shard = 2})) {
    SCOPED_TRACE(way.name);
    expect_same_bits(train(trial_of({.shard = 2}, strict + way.settings), source, 2),
                     train(trial_of({.shard = 2}, kRecipe + way.settings), source, 2));
  }
}

}  // namespace
}  // namespace brigade::end_to_end
