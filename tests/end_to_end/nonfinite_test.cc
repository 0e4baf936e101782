// SPDX-License-Identifier: Apache-2.0
/// Field report about one gradient element on one rank that is not finite: one decision on all
/// ranks, and nothing of the step remains.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/layouts.h"
#include "tests/end_to_end/leaf_hooks.h"
#include "tests/end_to_end/sample_list.h"

namespace brigade::end_to_end {
namespace {

constexpr int64_t kGlobalBatch = 12;
constexpr int64_t kBadStep = 5;
constexpr int64_t kBadRank = 1;
const std::string kName = "model.layers.2.mlp.up_proj.weight";

const Settings kRecipe = {"optimizer.name=AdamW",
                          "optimizer.lr=3e-3",
                          "training.max_norm=1.0",
                          "training.microbatch_size=2"};

std::vector<Sample> hundred_samples() {
  return samples_of(*random_tokens(96, 16, 100), 0, 100);
}

Outcome good(const Degrees& degrees,
             std::vector<Sample> samples,
             int64_t steps,
             const Settings& settings = {}) {
  return train(trial_of(degrees, kRecipe + settings), sample_list(96, std::move(samples)), steps);
}

/// A value that is put into one gradient element of one rank, in the steps [first, last].
struct Injection {
  double value;
  int64_t first = kBadStep;
  int64_t last = kBadStep;
};

Outcome injected(const Degrees& degrees,
                 const Injection& injection,
                 const Settings& settings,
                 int64_t steps) {
  Trial trial = trial_of(degrees, kRecipe + settings);
  trial.prepare = [&](loop::Trainer& trainer, collective::World& world) {
    const auto change = [injection, microbatches = trainer.facts().microbatches](
                            const at::Tensor& gradient, int64_t backward) {
      const int64_t step = backward / microbatches + 1;
      const bool is_bad = step >= injection.first && step <= injection.last;
      at::Tensor changed = gradient.clone();
      if (is_bad && backward % microbatches == 0) {
        changed.view(-1)[7].fill_(injection.value);
      }
      return changed;
    };
    with_whole_weights(trainer, [&] {
      if (world.rank() == kBadRank) {
        hook_gradient(trainer, kName, change);
      }
    });
  };
  return attempt(trial, sample_list(96, hundred_samples()), steps);
}

void expect_text(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in: " << text;
}

class NonFinite : public ::testing::TestWithParam<Degrees> {
 protected:
  static std::vector<Injection> injections() {
    return {{std::nan("")}, {std::numeric_limits<double>::infinity()}};
  }
};

TEST_P(NonFinite, R062_StopsOnAllRanksWithoutAnUpdate) {
  for (const Way& way : ways(GetParam())) {
    const Outcome before = good(GetParam(), hundred_samples(), kBadStep - 1, way.settings);
    for (const Injection& injection : injections()) {
      SCOPED_TRACE(concat(injection.value, ' ', way.name));
      const Outcome found = injected(GetParam(), injection, way.settings, kBadStep + 3);
      ASSERT_EQ(found.failures.size(), static_cast<size_t>(GetParam().ranks()));
      for (const Error& error : found.failures) {
        EXPECT_EQ(error, found.failures[0]);
        EXPECT_EQ(error.code, ErrorCode::kNonFinite);
        expect_text(error.text, "step 5");
        expect_text(error.text, "gradient of " + kName + " on rank ");
      }
      ASSERT_EQ(found.steps.size(), static_cast<size_t>(kBadStep - 1));
      expect_same_bits(found, before);
    }
  }
}

/// The run that never saw the samples of the bad step: weights, moments and Adam's own count of
/// steps must be what that run has, or later steps would differ.
TEST_P(NonFinite, R062_SkipsTheStepAsIfItsSamplesWereNotThere) {
  std::vector<Sample> others = hundred_samples();
  others.erase(others.begin() + (kBadStep - 1) * kGlobalBatch,
               others.begin() + kBadStep * kGlobalBatch);
  for (const Way& way : ways(GetParam())) {
    const Outcome without = good(GetParam(), others, kBadStep + 2, way.settings);
    for (const Injection& injection : injections()) {
      SCOPED_TRACE(concat(injection.value, ' ', way.name));
      const Outcome found = injected(GetParam(),
                                     injection,
                                     way.settings + Settings{"training.on_nonfinite=skip"},
                                     kBadStep + 3);
      EXPECT_TRUE(found.failures.empty());
      ASSERT_EQ(found.steps.size(), static_cast<size_t>(kBadStep + 3));
      const loop::StepReport& bad = found.steps[kBadStep - 1];
      EXPECT_TRUE(bad.skipped);
      EXPECT_EQ(bad.step, kBadStep);
      expect_text(bad.first_bad, "gradient of " + kName + " on rank ");
      EXPECT_EQ(found.steps[kBadStep].step, kBadStep + 1);

      Outcome rest = found;
      rest.steps.erase(rest.steps.begin() + kBadStep - 1);
      expect_same_bits(rest, without);
    }
  }
}

TEST_P(NonFinite, R062_StopsAfterTooManySkipsInARow) {
  const Outcome found = injected(GetParam(),
                                 {.value = std::nan(""), .first = kBadStep, .last = kBadStep + 9},
                                 {"training.on_nonfinite=skip", "training.max_consecutive_skips=2"},
                                 kBadStep + 9);
  ASSERT_EQ(found.failures.size(), static_cast<size_t>(GetParam().ranks()));
  for (const Error& error : found.failures) {
    EXPECT_EQ(error, found.failures[0]);
    EXPECT_EQ(error.code, ErrorCode::kNonFinite);
    expect_text(error.text, "step 7");
    expect_text(error.text, "3 steps in a row");
    expect_text(error.text, "training.max_consecutive_skips = 2");
  }
  EXPECT_EQ(found.steps.size(), static_cast<size_t>(kBadStep + 1));
  const Outcome before = good(GetParam(), hundred_samples(), kBadStep - 1);
  for (const auto& [name, value] : before.parameters) {
    EXPECT_TRUE(at::equal(found.parameters.at(name), value)) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(FieldReport,
                         NonFinite,
                         ::testing::Values(Degrees{.shard = 2}, Degrees{.tp = 2}, Degrees{.pp = 2}),
                         [](const ::testing::TestParamInfo<Degrees>& test) {
                           return test.param.name();
                         });

TEST(FieldReport, R062_CountsOnlySkipsInARow) {
  const Outcome found = injected({.shard = 2},
                                 {.value = std::nan(""), .first = kBadStep, .last = kBadStep + 1},
                                 {"training.on_nonfinite=skip", "training.max_consecutive_skips=2"},
                                 kBadStep + 3);
  EXPECT_TRUE(found.failures.empty());
  EXPECT_FALSE(found.steps.back().skipped);
}

}  // namespace
}  // namespace brigade::end_to_end
