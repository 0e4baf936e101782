// SPDX-License-Identifier: Apache-2.0
/// Dropout under law 1: which elements fall out depends on seed, step, place and sample, so the
/// curve is one whatever the mesh, the microbatch and the split of the sequence.
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/layouts.h"

namespace brigade::end_to_end {
namespace {

constexpr int64_t kSteps = 3;

Outcome run(const Degrees& degrees, const Settings& settings) {
  Trial trial = trial_of(degrees, settings);
  trial.recipe = kGpt2Recipe;
  return train(trial, random_tokens(101, 16, 100), kSteps);
}

Settings dropping(int64_t microbatch) {
  return {"model.dropout=0.5", concat("training.microbatch_size=", microbatch)};
}

class Dropout : public ::testing::TestWithParam<Degrees> {};

TEST_P(Dropout, R018TrainsTheCurveOfOneRank) {
  const Degrees& degrees = GetParam();
  const Outcome one = run({}, dropping(12));
  for (const Way& way : ways(degrees)) {
    for (const int64_t microbatch : {1, 2}) {
      for (const char* sequence : {"false", "true"}) {
        SCOPED_TRACE(concat(way.name, " microbatch ", microbatch, " sequence ", sequence));
        const Settings split = {concat("parallelism.sequence_parallel=", sequence)};
        expect_same_curve(run(degrees, dropping(microbatch) + way.settings + split), one);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(FieldReport,
                         Dropout,
                         ::testing::Values(Degrees{},
                                           Degrees{.shard = 2},
                                           Degrees{.shard = 3},
                                           Degrees{.tp = 3},
                                           Degrees{.pp = 2},
                                           Degrees{.shard = 2, .tp = 3}),
                         [](const ::testing::TestParamInfo<Degrees>& test) {
                           return test.param.name();
                         });

TEST(FieldReport, R018_DropsTheSameElementsInAForwardThatIsRunAgain) {
  const Degrees mesh{.shard = 2, .tp = 2};
  for (const char* stage : {"0", "3"}) {
    for (const char* sequence : {"false", "true"}) {
      const Settings settings =
          dropping(2) + Settings{"model.n_heads=4",
                                 concat("parallelism.zero_stage=", stage),
                                 concat("parallelism.sequence_parallel=", sequence)};
      const Outcome kept = run(mesh, settings);
      for (const Settings& again : {Settings{"activation_checkpoint.mode=full"},
                                    Settings{"activation_checkpoint.mode=selective",
                                             "activation_checkpoint.selective_ac_option=op"},
                                    Settings{"activation_checkpoint.mode=selective",
                                             "activation_checkpoint.selective_ac_option=\"2\""}}) {
        SCOPED_TRACE(concat("stage ", stage, " sequence ", sequence, ' ', again.back()));
        expect_same_bits(run(mesh, settings + again), kept);
      }
    }
  }
}

TEST(DropoutCurve, IsAnotherThanWithoutAndWithAnotherSeed) {
  const std::vector<double> losses = run({}, dropping(12)).losses();
  EXPECT_NE(run({}, {"training.microbatch_size=12"}).losses(), losses);
  // Of other initial weights, too; the same weights under other masks differ within the run.
  EXPECT_NE(run({}, dropping(12) + Settings{"debug.seed=8"}).losses(), losses);
}

}  // namespace
}  // namespace brigade::end_to_end
