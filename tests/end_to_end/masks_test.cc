// SPDX-License-Identifier: Apache-2.0
/// Field reports about what a token weighs: sums over all trained tokens, never means of means.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/layouts.h"
#include "tests/end_to_end/sample_list.h"

namespace brigade::end_to_end {
namespace {

using Samples = std::vector<Sample>;

const Degrees kOne;

Trial trial(const Degrees& degrees, int64_t global, int64_t microbatch, const Settings& settings) {
  return trial_of(degrees,
                  Settings{concat("training.global_batch_size=", global),
                           concat("training.microbatch_size=", microbatch)} +
                      settings);
}

/// A whole sample of 16 trained tokens and another one.
Samples two_samples() {
  return samples_of(*random_tokens(96, 16, 2), 0, 2);
}

/// One step of one rank on one sample alone.
Outcome alone(const Sample& sample) {
  return train(trial(kOne, 1, 1, {}), sample_list(96, {sample}), 1);
}

Outcome untrained() {
  return train(trial(kOne, 1, 1, {}), sample_list(96, {two_samples()[0]}), 0);
}

struct Arrangement {
  Degrees degrees;
  int64_t microbatch;
};

/// One step on a whole sample and on one of which `trained` tokens are trained: every token weighs
/// the same, however the two are arranged.
void expect_equal_tokens(int64_t trained, const std::vector<Arrangement>& arrangements) {
  const Sample a = two_samples()[0];
  const Sample b = two_samples()[1].trained(trained);
  const Outcome start = untrained();
  const Outcome only_a = alone(a);
  const Outcome only_b = alone(b);
  const double share_b = static_cast<double>(trained) / static_cast<double>(16 + trained);
  const double loss = (1 - share_b) * only_a.losses()[0] + share_b * only_b.losses()[0];
  const double mean_of_means = (only_a.losses()[0] + only_b.losses()[0]) / 2;
  ASSERT_GT(std::abs(loss - mean_of_means), 1e-3) << "the samples cannot tell the two apart";

  for (const Arrangement& arranged : arrangements) {
    for (const Way& way : ways(arranged.degrees)) {
      SCOPED_TRACE(concat(arranged.degrees.name(), ' ', arranged.microbatch, ' ', way.name));
      const Outcome found = train(trial(arranged.degrees, 2, arranged.microbatch, way.settings),
                                  sample_list(96, {a, b}),
                                  1);
      EXPECT_NEAR(found.losses()[0], loss, 1e-6);
      EXPECT_EQ(found.steps[0].trained_tokens, 16 + trained);
      for (const auto& [name, value] : start.parameters) {
        const at::Tensor change_a = only_a.parameters.at(name) - value;
        const at::Tensor change_b = only_b.parameters.at(name) - value;
        const at::Tensor wanted = value + (1 - share_b) * change_a + share_b * change_b;
        EXPECT_LE((found.parameters.at(name) - wanted).abs().max().item<double>(), 1e-6) << name;
      }
    }
  }
}

TEST(FieldReport, R010_CountsTokensNotMicrobatches) {
  expect_equal_tokens(
      4, {{kOne, 2}, {kOne, 1}, {{.shard = 2}, 1}, {{.replicate = 2}, 1}, {{.pp = 2}, 1}});
}

TEST(FieldReport, R020_KeepsTheGradientOfTheFirstRoundWhenASecondOneIsShorter) {
  expect_equal_tokens(12, {{kOne, 1}, {{.pp = 2}, 1}});
}

const std::vector<Degrees> kMeshes = {
    kOne, {.shard = 2}, {.tp = 2}, {.pp = 2}, {.shard = 2, .pp = 2}};

TEST(FieldReport, R011_TrainsWhenAShareOfTheBatchIsMasked) {
  const Sample a = two_samples()[0];
  const Outcome only_a = alone(a);
  for (const Degrees& degrees : kMeshes) {
    for (const Way& way : ways(degrees)) {
      SCOPED_TRACE(degrees.name() + " " + way.name);
      const Outcome found = train(
          trial(degrees, 2, 1, way.settings), sample_list(96, {a, two_samples()[1].trained(0)}), 1);
      expect_same_curve(found, only_a);
      EXPECT_EQ(found.steps[0].trained_tokens, 16);
    }
  }
}

TEST(FieldReport, R011_StopsWithUnchangedWeightsWhenAllIsMasked) {
  const Samples masked = {two_samples()[0].trained(0), two_samples()[1].trained(0)};
  const Outcome start = untrained();
  for (const Degrees& degrees : kMeshes) {
    for (const Way& way : ways(degrees)) {
      SCOPED_TRACE(degrees.name() + " " + way.name);
      const Outcome found = attempt(trial(degrees, 2, 1, way.settings), sample_list(96, masked), 1);
      ASSERT_EQ(found.failures.size(), static_cast<size_t>(degrees.ranks()));
      for (const Error& error : found.failures) {
        EXPECT_EQ(error.code, ErrorCode::kData);
        EXPECT_NE(error.text.find("masked"), std::string::npos) << error.text;
      }
      expect_same_bits(found, start);
    }
  }
}

TEST(FieldReport, R099_ReportsTheLossOfAllRanksWhenRankZeroHasEasySamples) {
  const Samples easy(3, repeated(5, 16));
  Samples all = easy;
  const Samples hard = samples_of(*random_tokens(96, 16, 9), 0, 9);
  all.insert(all.end(), hard.begin(), hard.end());
  const Outcome one = train(trial(kOne, 12, 12, {}), sample_list(96, all), 10);
  const Outcome rank_zero = train(trial(kOne, 3, 3, {}), sample_list(96, easy), 10);
  ASSERT_LT(rank_zero.losses()[9], one.losses()[9] - 1.0) << "rank 0's samples are not easy";
  for (const Way& way : ways({.shard = 4})) {
    SCOPED_TRACE(way.name);
    expect_same_curve(train(trial({.shard = 4}, 12, 3, way.settings), sample_list(96, all), 10),
                      one);
  }
}

}  // namespace
}  // namespace brigade::end_to_end
