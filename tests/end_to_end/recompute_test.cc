// SPDX-License-Identifier: Apache-2.0
/// Recomputation: what a unit keeps for its backward changes memory and time, and no bit of loss,
/// norm or parameter.
#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "parallel/tensor/program.h"
#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/layouts.h"

namespace brigade::end_to_end {
namespace {

constexpr int64_t kSteps = 3;

const Settings kAdamW = {"optimizer.name=AdamW",
                         "optimizer.lr=3e-3",
                         "optimizer.weight_decay=0.1",
                         "training.max_norm=1.0",
                         "training.global_batch_size=8"};
const Settings kMicrobatches = {"training.microbatch_size=2"};
const Settings kDeterministic = kMicrobatches + Settings{"debug.deterministic=true"};

/// Ways to recompute, beside that of none.
const std::vector<Way> kRecomputed = {
    {"full", {"activation_checkpoint.mode=full"}},
    {"all but products",
     {"activation_checkpoint.mode=selective", "activation_checkpoint.selective_ac_option=op"}},
    {"every second block",
     {"activation_checkpoint.mode=selective", "activation_checkpoint.selective_ac_option=\"2\""}}};

struct Family {
  std::string name;
  const char* recipe;
  int64_t vocabulary;
  Settings settings;
};

const Family kLlama{"llama", testing::kSmallRecipe, 96, {}};
const Family kGpt2{"gpt2", kGpt2Recipe, 101, {"model.n_heads=4"}};

Trial trial(const Family& family, const Degrees& degrees, const Settings& settings) {
  Trial made = trial_of(degrees, kAdamW + family.settings + settings);
  made.recipe = family.recipe;
  return made;
}

Outcome run(const Family& family, const Degrees& degrees, const Settings& settings) {
  return train(trial(family, degrees, settings), random_tokens(family.vocabulary, 16, 100), kSteps);
}

struct Point {
  Family family;
  Degrees degrees;
};

void PrintTo(const Point& point, std::ostream* out) {
  *out << point.family.name << ' ' << point.degrees.name();
}

/// Stages 0 and 3 of ZeRO, with and without sequence parallelism where there are tensor ranks.
std::vector<Way> settings_of(const Degrees& degrees) {
  std::vector<Way> found;
  for (const int stage : {0, 3}) {
    for (const char* sequence : {"false", "true"}) {
      if (degrees.tp > 1 || sequence == std::string("false")) {
        found.push_back({concat("zero", stage, " sequence ", sequence),
                         {concat("parallelism.zero_stage=", stage),
                          concat("parallelism.sequence_parallel=", sequence)}});
      }
    }
  }
  return found;
}

class Recompute : public ::testing::TestWithParam<Point> {};

TEST_P(Recompute, ChangesNoBitInTheDeterministicMode) {
  const auto& [family, degrees] = GetParam();
  for (const Way& layout : settings_of(degrees)) {
    const Settings settings = kDeterministic + layout.settings;
    const Outcome kept = run(family, degrees, settings);
    for (const Way& way : kRecomputed) {
      SCOPED_TRACE(concat(layout.name, ", ", way.name));
      expect_same_bits(run(family, degrees, settings + way.settings), kept);
    }
  }
}

TEST_P(Recompute, TrainsTheCurveOfOneRankThatKeepsAll) {
  const auto& [family, degrees] = GetParam();
  const Outcome one = run(family, {}, {"training.microbatch_size=8"});
  for (const Way& layout : settings_of(degrees)) {
    for (const Way& way : kRecomputed) {
      SCOPED_TRACE(concat(layout.name, ", ", way.name));
      expect_same_curve(run(family, degrees, kMicrobatches + layout.settings + way.settings),
                        one,
                        {.parameters = 1e-4});  // AdamW magnifies rounding
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EndToEnd,
                         Recompute,
                         ::testing::Values(Point{kLlama, {}},
                                           Point{kLlama, {.shard = 2}},
                                           Point{kLlama, {.tp = 2}},
                                           Point{kLlama, {.pp = 2}},
                                           Point{kLlama, {.shard = 2, .tp = 2, .pp = 2}},
                                           Point{kGpt2, {}},
                                           Point{kGpt2, {.shard = 2}},
                                           Point{kGpt2, {.tp = 2}},
                                           Point{kGpt2, {.pp = 2}},
                                           Point{kGpt2, {.shard = 2, .tp = 2, .pp = 2}}),
                         [](const ::testing::TestParamInfo<Point>& test) {
                           return test.param.family.name + "_" + test.param.degrees.name();
                         });

/// Sums over tensor ranks that a step of two microbatches runs in forwards: two for each block.
int64_t forward_sums(const Settings& settings) {
  int64_t sums = 0;
  Trial counted = trial(kLlama, {.tp = 2}, settings + Settings{"training.microbatch_size=4"});
  counted.after_step = [&](loop::Trainer& trainer, collective::World& world) {
    if (world.rank() == 0) {
      sums = std::ranges::count_if(
          trainer.program().ledger().entries(), [](const tensor::LedgerEntry& entry) {
            return entry.cast == sharding::CastKind::kAllReduce &&
                   entry.pass == tensor::Pass::kForward && entry.source == "einsum";
          });
    }
  };
  train(counted, random_tokens(96, 16, 100), 1);
  return sums;
}

TEST(RecomputeCounts, RunsTheForwardsAgainThatTheModeNames) {
  constexpr int64_t kBlocks = 4;
  constexpr int64_t kSplits = 2;
  const int64_t kept = forward_sums({});
  EXPECT_EQ(kept, 2 * kBlocks * kSplits);
  EXPECT_EQ(forward_sums(kRecomputed[0].settings), 2 * kept);
  EXPECT_EQ(forward_sums(kRecomputed[1].settings), kept) << "the products were kept";
  EXPECT_EQ(forward_sums(kRecomputed[2].settings), kept + kept / 2);
}

}  // namespace
}  // namespace brigade::end_to_end
