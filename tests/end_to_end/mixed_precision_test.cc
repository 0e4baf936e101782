// SPDX-License-Identifier: Apache-2.0
/// Mixed precision: weights in bf16 beside fp32 masters, and gradients in bf16 on the wire, train
/// as fp32 does.
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/base/philox.h"
#include "parallel/base/text.h"
#include "parallel/tensor/program.h"
#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/layouts.h"
#include "tests/end_to_end/sample_list.h"

namespace brigade::end_to_end {
namespace {

constexpr int64_t kSteps = 200;
constexpr int64_t kVocabulary = 96;
constexpr int64_t kSequence = 16;

/// The schedule and optimizer of configs/tiny on a smaller model.
const Settings kTiny = {"model.n_layers=2",
                        "optimizer.name=AdamW",
                        "optimizer.lr=3e-3",
                        "optimizer.weight_decay=0.1",
                        "lr_scheduler.warmup_steps=20",
                        "lr_scheduler.decay_ratio=0.9",
                        "lr_scheduler.decay_type=cosine",
                        "lr_scheduler.min_lr_factor=0.1",
                        "training.global_batch_size=16",
                        "training.microbatch_size=4",
                        "training.max_norm=1.0",
                        concat("training.steps=", kSteps)};

const Settings kBf16 = {"training.mixed_precision_param=bfloat16"};
const Settings kBf16Wire = {"training.mixed_precision_reduce=bfloat16"};

/// Text with a rule to learn and an eighth of its tokens by chance: a curve that falls, to a floor
/// above zero.
std::shared_ptr<const data::TokenSource> text() {
  std::vector<Sample> samples;
  for (int64_t sample = 0; sample < 400; ++sample) {
    std::vector<int64_t> tokens;
    for (int64_t i = 0; i <= kSequence; ++i) {
      const auto random = philox(
          3, static_cast<uint64_t>(sample * (kSequence + 1) + i), 0, random_stream("test", "text"));
      const bool by_chance = i == 0 || random[1] % 8 == 0;
      tokens.push_back(by_chance ? random[0] % kVocabulary : (tokens.back() * 5 + 7) % kVocabulary);
    }
    samples.push_back({.tokens = {tokens.begin(), tokens.end() - 1},
                       .targets = {tokens.begin() + 1, tokens.end()}});
  }
  return sample_list(kVocabulary, std::move(samples));
}

Outcome run(const Degrees& degrees, const Settings& settings, int64_t steps = kSteps) {
  return train(trial_of(degrees, kTiny + settings), text(), steps);
}

/// Mean over the last ten steps: samples differ from step to step.
double end_of(const Outcome& outcome) {
  double sum = 0.0;
  for (size_t i = outcome.steps.size() - 10; i < outcome.steps.size(); ++i) {
    sum += outcome.steps[i].loss;
  }
  return sum / 10;
}

const Outcome& single_precision() {
  static const Outcome outcome = run({}, {});
  return outcome;
}

void expect_the_end_of_fp32(const Outcome& found) {
  const Outcome& single = single_precision();
  ASSERT_LT(end_of(single), single.steps[0].loss - 1.5) << "there is nothing to compare";
  EXPECT_NEAR(found.steps.back().loss, single.steps.back().loss, 0.02);
  EXPECT_NEAR(end_of(found), end_of(single), 0.02);
  EXPECT_NE(found.losses(), single.losses()) << "these are fp32's bits";
}

TEST(MixedPrecision, EndsWhereFp32EndsOnOneRank) {
  expect_the_end_of_fp32(run({}, kBf16));
}

TEST(MixedPrecision, EndsWhereFp32EndsAtStageThree) {
  expect_the_end_of_fp32(run({.shard = 2}, kBf16 + Settings{"parallelism.zero_stage=3"}));
}

TEST(MixedPrecision, EndsWhereFp32EndsWithGradientsInBf16OnTheWire) {
  expect_the_end_of_fp32(run({.shard = 2}, kBf16Wire + Settings{"parallelism.zero_stage=3"}));
}

TEST(MixedPrecision, EndsWhereFp32EndsWithBothInBf16) {
  expect_the_end_of_fp32(
      run({.shard = 2}, kBf16 + kBf16Wire + Settings{"parallelism.zero_stage=2"}));
}

/// The same rounding of the same sums: stages differ in where numbers lie.
TEST(MixedPrecision, HasTheSameBitsAtEveryStageInTheDeterministicMode) {
  for (const Settings& precision : {kBf16, kBf16 + Settings{"model.tie_embeddings=true"}}) {
    const Settings settings = precision + Settings{"debug.deterministic=true"};
    for (const Degrees& degrees :
         {Degrees{.shard = 2}, Degrees{.replicate = 2, .shard = 2}, Degrees{.shard = 2, .pp = 2}}) {
      const Outcome one = run({}, settings, 4);
      for (const Way& way : zero_ways(degrees, /*deterministic=*/true)) {
        SCOPED_TRACE(degrees.name() + " " + way.name);
        expect_same_bits(run(degrees, settings + way.settings, 4), one);
      }
    }
  }
}

TEST(MixedPrecision, KeepsMastersThatBf16CouldNotHold) {
  const Outcome found = run({.shard = 2}, kBf16 + Settings{"parallelism.zero_stage=3"}, 4);
  for (const auto& [name, value] : found.parameters) {
    EXPECT_EQ(value.scalar_type(), at::kFloat) << name;
    EXPECT_FALSE(at::equal(value, value.to(at::kBFloat16).to(at::kFloat))) << name;
  }
}

/// Bytes that a step's ledger has on two data ranks: casts of units alone.
int64_t bytes_of(const Settings& settings) {
  int64_t bytes = 0;
  Trial trial = trial_of({.shard = 2}, kTiny + settings);
  trial.after_step = [&](loop::Trainer& trainer, collective::World& world) {
    if (world.rank() == 0) {
      bytes = trainer.program().ledger().bytes();
    }
  };
  train(trial, text(), 1);
  return bytes;
}

TEST(MixedPrecision, MovesHalfTheBytesOfWhatIsInBf16) {
  for (const char* stage : {"1", "2", "3"}) {
    const Settings settings = {concat("parallelism.zero_stage=", stage),
                               "parallelism.reduce_gradients=step"};
    SCOPED_TRACE(stage);
    const int64_t single = bytes_of(settings);
    EXPECT_EQ(2 * bytes_of(settings + kBf16 + kBf16Wire), single);
    EXPECT_EQ(bytes_of(settings + kBf16) + bytes_of(settings + kBf16Wire), single + single / 2);
  }
}

}  // namespace
}  // namespace brigade::end_to_end
