// SPDX-License-Identifier: Apache-2.0
/// debug.deterministic: data ranks, stages, ZeRO and schedules change no bit of loss, norm or
/// parameter, as long as the microbatch is the same.
#include <algorithm>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/layouts.h"

namespace brigade::end_to_end {
namespace {

constexpr int64_t kSteps = 4;

/// Sequences of a forward, and of a step: 2^k microbatches for each of 1, 2 and 4 data ranks.
struct Batches {
  int64_t microbatch;
  int64_t global;
};
constexpr Batches kSmall{1, 8};
constexpr Batches kEven{2, 16};
constexpr Batches kOdd{3, 12};

const Settings kSgd = {};

Outcome run(const Degrees& degrees, const Batches& batches, const Settings& settings) {
  return train(trial_of(degrees,
                        Settings{"debug.deterministic=true",
                                 concat("training.microbatch_size=", batches.microbatch),
                                 concat("training.global_batch_size=", batches.global)} +
                            settings),
               random_tokens(96, 16, 100),
               kSteps);
}

/// Every way of the mesh against one rank.
void expect_bits_of_one_rank(const Degrees& degrees,
                             const Batches& batches,
                             const Settings& settings) {
  const Outcome one = run({}, batches, settings);
  for (const Way& way : zero_ways(degrees, /*deterministic=*/true)) {
    SCOPED_TRACE(concat(way.name, ", microbatch ", batches.microbatch));
    expect_same_bits(run(degrees, batches, settings + way.settings), one);
  }
}

class Deterministic : public ::testing::TestWithParam<Degrees> {};

TEST_P(Deterministic, HasTheBitsOfOneRankWithSgd) {
  for (const Batches& batches : {kSmall, kEven, kOdd}) {
    expect_bits_of_one_rank(GetParam(), batches, kSgd);
  }
}

TEST_P(Deterministic, HasTheBitsOfOneRankWithAdamW) {
  for (const Batches& batches : {kSmall, kEven, kOdd}) {
    expect_bits_of_one_rank(GetParam(), batches, kAdamWRecipe.settings);
  }
}

TEST_P(Deterministic, HasTheBitsOfOneRankWithATiedHeadAndLayersThatDoNotDivide) {
  expect_bits_of_one_rank(
      GetParam(),
      kEven,
      kAdamWRecipe.settings + Settings{"model.tie_embeddings=true", "model.n_layers=5"});
}

INSTANTIATE_TEST_SUITE_P(EndToEnd,
                         Deterministic,
                         ::testing::Values(Degrees{.shard = 2},
                                           Degrees{.shard = 4},
                                           Degrees{.replicate = 2, .shard = 2},
                                           Degrees{.pp = 2},
                                           Degrees{.pp = 4},
                                           Degrees{.shard = 2, .pp = 2}),
                         [](const ::testing::TestParamInfo<Degrees>& test) {
                           return test.param.name();
                         });

TEST(DeterministicRun, HasTheBitsOfOneRankOnThreeDataRanks) {
  expect_bits_of_one_rank({.shard = 3}, {.microbatch = 2, .global = 24}, kAdamWRecipe.settings);
}

TEST(DeterministicRun, HasTheBitsOfOneRankOnAPipelineWithAnyNumberOfMicrobatches) {
  for (const int64_t global : {6, 10, 14}) {
    expect_bits_of_one_rank({.pp = 2}, {.microbatch = 2, .global = global}, kAdamWRecipe.settings);
  }
}

TEST(DeterministicRun, RunsTwiceWithTheSameBits) {
  const Degrees mesh{.shard = 2, .tp = 2, .pp = 2};
  expect_same_bits(run(mesh, kEven, kAdamWRecipe.settings),
                   run(mesh, kEven, kAdamWRecipe.settings));
}

TEST(DeterministicRun, WouldNoticeOtherBits) {
  const Outcome one = run({}, kEven, kSgd);
  const Outcome other = run({}, {.microbatch = 4, .global = 16}, kSgd);
  expect_same_curve(other, one);
  EXPECT_TRUE(std::ranges::any_of(one.parameters, [&](const auto& parameter) {
    return !at::equal(parameter.second, other.parameters.at(parameter.first));
  })) << "another microbatch adds in another order, yet no bit differs";
}

}  // namespace
}  // namespace brigade::end_to_end
