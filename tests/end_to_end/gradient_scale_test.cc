// SPDX-License-Identifier: Apache-2.0
/// Field reports about the scale of gradients: who divides, who sums, who clips. Plain SGD and the
/// norm tell what AdamW and the loss hide.
#include <cmath>
#include <map>
#include <string>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/layouts.h"

namespace brigade::end_to_end {
namespace {

const Settings kAdamW = {"optimizer.name=AdamW", "optimizer.lr=3e-3", "training.max_norm=1.0"};

Outcome run(const Degrees& degrees, const Settings& settings, int64_t steps) {
  return train(trial_of(degrees, settings), random_tokens(96, 16, 1000), steps);
}

Settings batches(int64_t global, int64_t microbatch) {
  return {concat("training.global_batch_size=", global),
          concat("training.microbatch_size=", microbatch)};
}

/// Of what an SGD step took from the weights: learning rate x the gradient it used.
double norm_of_change(const Outcome& before, const Outcome& after) {
  double squares = 0.0;
  for (const auto& [name, value] : before.parameters) {
    const at::Tensor change = value.to(at::kDouble) - after.parameters.at(name).to(at::kDouble);
    squares += change.square().sum().item<double>();
  }
  return std::sqrt(squares);
}

TEST(FieldReport, R001_ClipsByTheNormOfAllStages) {
  const Settings clipped = {"training.max_norm=0.05", "optimizer.lr=1.0"};
  const Outcome start = run({}, clipped, 0);
  const Outcome one = run({}, clipped, 1);
  ASSERT_GT(one.norms()[0], 0.5) << "0.05 must be well below the norm";
  for (const Degrees& degrees : {Degrees{.pp = 2},
                                 Degrees{.pp = 4},
                                 Degrees{.tp = 2, .pp = 2},
                                 Degrees{.shard = 2, .pp = 2},
                                 Degrees{.shard = 2, .tp = 2}}) {
    for (const Way& way : ways(degrees)) {
      SCOPED_TRACE(degrees.name() + " " + way.name);
      const Outcome found = run(degrees, clipped + way.settings, 1);
      expect_same_curve(found, one);
      EXPECT_NEAR(norm_of_change(start, found), 0.05, 1e-6);
    }
  }
}

TEST(FieldReport, R008_SplitsABatchIntoMicrobatchesWithoutChangingTheGradient) {
  const Outcome one = run({}, batches(8, 8), 3);
  for (const int64_t microbatch : {1, 2, 4, 8}) {
    for (const Way& way : ways({.pp = 2})) {
      SCOPED_TRACE(concat("microbatch ", microbatch, " ", way.name));
      expect_same_curve(run({.pp = 2}, batches(8, microbatch) + way.settings, 3), one);
    }
  }
}

TEST(FieldReport, R009_HasOneGradientNormForAnyNumberOfDataRanks) {
  for (const Settings& recipe : {Settings{}, kAdamW}) {
    const Outcome one = run({}, recipe, 5);
    for (const int64_t ranks : {1, 2, 4}) {
      for (const Way& way : ways({.shard = ranks})) {
        SCOPED_TRACE(concat("dp", ranks, " ", way.name));
        const Outcome found = run({.shard = ranks}, recipe + way.settings, 5);
        for (size_t step = 0; step < 5; ++step) {
          EXPECT_NEAR(found.norms()[step] / one.norms()[step], 1.0, 1e-5) << step;
        }
      }
    }
  }
}

class StagesOfZero : public ::testing::TestWithParam<bool> {};

TEST_P(StagesOfZero, R014_AgreeForDataRanksAndAccumulation) {
  const Settings recipe = GetParam() ? kAdamW : Settings{};
  const Tolerance tolerance{.parameters = GetParam() ? 1e-4 : 1e-5};
  const Outcome one = run({}, recipe + batches(36, 36), 10);
  for (const int64_t ranks : {1, 2, 3, 4}) {
    for (const int64_t accumulated : {1, 3}) {
      SCOPED_TRACE(concat("dp", ranks, ", ", accumulated, " microbatches"));
      const Settings settings = recipe + batches(36, 36 / (ranks * accumulated));
      const auto stage = [&](int number, const Settings& reduction) {
        return run({.shard = ranks},
                   settings + Settings{concat("parallelism.zero_stage=", number)} + reduction,
                   10);
      };
      const Outcome whole = stage(0, {});
      expect_same_curve(whole, one, tolerance);
      for (const int number : {1, 2, 3}) {
        SCOPED_TRACE(concat("stage ", number));
        expect_same_bits(stage(number, {"parallelism.reduce_gradients=step"}), whole);
        if (number >= 2) {  // another order of sums, if there are several microbatches
          const Outcome each = stage(number, {"parallelism.reduce_gradients=microbatch"});
          expect_same_curve(each, whole, {1e-6, 1e-6, GetParam() ? 1e-5 : 1e-6});
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(FieldReport,
                         StagesOfZero,
                         ::testing::Values(false, true),
                         [](const ::testing::TestParamInfo<bool>& test) {
                           return test.param ? "AdamW" : "SGD";
                         });

}  // namespace
}  // namespace brigade::end_to_end
