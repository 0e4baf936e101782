// SPDX-License-Identifier: Apache-2.0
/// Law 1 over ZeRO: twelve sequences for each data rank, in one, three and four microbatches, end
/// at every stage where one rank ends that has the whole batch at once.
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/layouts.h"

namespace brigade::end_to_end {
namespace {

constexpr int64_t kSteps = 4;
constexpr int64_t kSequences = 12;  // of a data rank

Outcome run(const Degrees& degrees, int64_t global, int64_t microbatch, const Settings& settings) {
  return train(trial_of(degrees,
                        settings + Settings{concat("training.global_batch_size=", global),
                                            concat("training.microbatch_size=", microbatch)}),
               random_tokens(96, 16, 100),
               kSteps);
}

class ZeroStages : public ::testing::TestWithParam<Degrees> {
 protected:
  void expect_one_curve(const Recipe& recipe, const Settings& model) {
    const Degrees& degrees = GetParam();
    const int64_t global = kSequences * degrees.data_ranks();
    const Outcome one = run({}, global, global, recipe.settings + model);
    for (const Way& way : zero_ways(degrees)) {
      for (const int64_t microbatches : {1, 3, 4}) {
        SCOPED_TRACE(concat(recipe.name, " ", way.name, ", m ", microbatches));
        const Outcome found =
            run(degrees, global, kSequences / microbatches, recipe.settings + model + way.settings);
        expect_same_curve(found, one, {.parameters = recipe.parameters});
      }
    }
  }
};

TEST_P(ZeroStages, TrainTheCurveOfOneRankWithSgd) {
  expect_one_curve(kSgdRecipe, {});
}

TEST_P(ZeroStages, TrainTheCurveOfOneRankWithAdamWAndATiedHead) {
  expect_one_curve(kAdamWRecipe, {"model.tie_embeddings=true"});
}

INSTANTIATE_TEST_SUITE_P(EndToEnd,
                         ZeroStages,
                         ::testing::Values(Degrees{.shard = 2},
                                           Degrees{.shard = 3},
                                           Degrees{.shard = 4},
                                           Degrees{.shard = 2, .tp = 2},
                                           Degrees{.shard = 2, .pp = 2},
                                           Degrees{.shard = 2, .tp = 2, .pp = 2},
                                           Degrees{.replicate = 2, .shard = 2}),
                         [](const ::testing::TestParamInfo<Degrees>& test) {
                           return test.param.name();
                         });

/// When gathers and reductions begin decides who waits for whom, not what is added in which order.
TEST(ZeroStagesInTime, HaveTheSameBitsHoweverFarAheadTheyGather) {
  for (const Degrees& degrees :
       {Degrees{.shard = 3}, Degrees{.replicate = 2, .shard = 2}, Degrees{.shard = 2, .pp = 2}}) {
    const int64_t global = kSequences * degrees.data_ranks();
    for (const char* reduction : {"step", "microbatch"}) {
      const auto ahead = [&](int64_t units, const char* freed) {
        return run(degrees,
                   global,
                   4,
                   kAdamWRecipe.settings +
                       Settings{"parallelism.zero_stage=3",
                                concat("parallelism.reduce_gradients=", reduction),
                                concat("parallelism.fsdp_prefetch=", units),
                                concat("parallelism.fsdp_reshard_after_forward=", freed)});
      };
      const Outcome late = ahead(0, "always");
      for (const int64_t units : {1, 2, 100}) {
        SCOPED_TRACE(concat(degrees.name(), ", each ", reduction, ", ", units, " units ahead"));
        expect_same_bits(ahead(units, "always"), late);
      }
      SCOPED_TRACE(concat(degrees.name(), ", each ", reduction, ", kept"));
      expect_same_bits(ahead(1, "never"), late);
    }
  }
}

}  // namespace
}  // namespace brigade::end_to_end
