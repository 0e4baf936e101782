// SPDX-License-Identifier: Apache-2.0
/// What a rank holds at the end of the last backward, once reduced, is the formula of its ZeRO
/// stage to the byte, and what it holds beside that while a step runs is bounded by its units.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "parallel/tensor/memory_meter.h"
#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/layouts.h"
#include "tests/support/rank_threads.h"
#include "trainer/loop/model_shape.h"
#include "trainer/loop/trainer.h"

namespace brigade::end_to_end {
namespace {

using tensor::Category;
using tensor::MemoryUse;

/// All of its rows divide by 2 and 4.
const Settings kModel = {"optimizer.name=AdamW"};

struct Held {
  int64_t states = 0;    ///< weights, masters, gradients and moments when all backwards are reduced
  int64_t gathered = 0;  ///< at the same moment
  MemoryUse step = {};   ///< of two steps
  int64_t moments = 0;
  int64_t parameters = 0;    ///< elements of the model's one copy
  int64_t largest_unit = 0;  ///< elements
};

int64_t largest_unit(const zero::ParameterSet& parameters) {
  std::map<std::string, int64_t> elements;
  for (const sharding::ParameterFacts& facts : parameters.facts()) {
    elements[facts.unit] += sharding::element_count(facts.shape);
  }
  int64_t largest = 0;
  for (const auto& [unit, count] : elements) {
    largest = std::max(largest, count);
  }
  return largest;
}

/// The second step, so that moments and buffers are those of a run under way.
Held held(collective::World& world, const config::RunConfig& config) {
  at::set_num_threads(1);
  const auto meter = std::make_shared<tensor::Meter>();
  const tensor::MeterScope counted(meter);
  const auto trainer = value_or_throw(loop::Trainer::create(
      world, {.config = config, .training = random_tokens(96, 16, 100), .validation = nullptr}));
  Held result;
  trainer->set_observer([&](const schedule::Action& action) {
    if (action.kind == schedule::ActionKind::kExchangeTied) {
      const MemoryUse use = meter->use();
      result.gathered = use.live[Category::kGathered];
      result.states = use.live[Category::kParameters] + use.live[Category::kGradients] +
                      result.gathered + trainer->optimizer_bytes();
    }
  });
  value_or_throw(trainer->step());
  meter->reset_peaks();
  value_or_throw(trainer->step());
  result.step = meter->use();
  result.moments = trainer->optimizer_bytes();
  for (const sharding::ParameterFacts& facts : trainer->parameters().facts()) {
    result.parameters += sharding::element_count(facts.shape);
  }
  result.largest_unit = largest_unit(trainer->parameters());
  return result;
}

template <class Check>
void on_shards(int64_t ranks, const Settings& settings, const Check& check) {
  tensor::install_memory_meter();
  const config::RunConfig config =
      testing::small_recipe(trial_of({.shard = ranks}, kModel + settings).settings);
  testing::run_ranks(ranks, [&](collective::World& world) { check(held(world, config)); });
}

/// Bytes per element of one copy, in N-ths: {whole, shard} of each stage.
struct Formula {
  int64_t whole;
  int64_t shard;

  int64_t bytes(int64_t elements, int64_t ranks) const {
    return whole * elements + shard * elements / ranks;
  }
};
constexpr Formula kSingle[] = {{16, 0}, {8, 8}, {4, 12}, {0, 16}};
constexpr Formula kMixed[] = {{18, 0}, {6, 12}, {2, 16}, {0, 18}};

TEST(ZeroMemory, IsTheFormulaInFp32) {
  for (const int64_t ranks : {2, 4}) {
    for (const int stage : {0, 1, 2, 3}) {
      SCOPED_TRACE(concat("stage ", stage, ", ", ranks, " ranks"));
      on_shards(ranks,
                {concat("parallelism.zero_stage=", stage),
                 concat("training.microbatch_size=", 12 / ranks)},
                [&](const Held& held) {
                  EXPECT_EQ(held.states, kSingle[stage].bytes(held.parameters, ranks));
                  EXPECT_EQ(held.gathered, 0);
                });
    }
  }
}

TEST(ZeroMemory, IsTheFormulaInBf16WithFp32Masters) {
  for (const int stage : {0, 1, 2, 3}) {
    SCOPED_TRACE(concat("stage ", stage));
    on_shards(
        2,
        {concat("parallelism.zero_stage=", stage),
         "training.microbatch_size=6",
         "training.mixed_precision_param=bfloat16"},
        [&](const Held& held) { EXPECT_EQ(held.states, kMixed[stage].bytes(held.parameters, 2)); });
  }
}

TEST(ZeroMemory, IsTheSameWithGradientsReducedAfterEachOfThreeMicrobatches) {
  for (const int stage : {2, 3}) {
    SCOPED_TRACE(concat("stage ", stage));
    on_shards(2,
              {concat("parallelism.zero_stage=", stage), "training.microbatch_size=2"},
              [&](const Held& held) {
                EXPECT_EQ(held.states, kSingle[stage].bytes(held.parameters, 2));
              });
  }
}

/// (1 + prefetch) units are whole at most, and at least the largest.
TEST(ZeroMemory, GathersNoMoreUnitsThanTheWindowHolds) {
  for (const int64_t prefetch : {0, 1, 2}) {
    SCOPED_TRACE(concat("prefetch ", prefetch));
    on_shards(2,
              {"parallelism.zero_stage=3", concat("parallelism.fsdp_prefetch=", prefetch)},
              [&](const Held& held) {
                const int64_t unit = held.largest_unit * 4;
                EXPECT_LE(held.step.peak[Category::kGathered], (1 + prefetch) * unit);
                EXPECT_GE(held.step.peak[Category::kGathered], unit);
              });
  }
}

/// R113: a higher stage never takes more, persistent or at its peak, than its formula and a few
/// units allow.
TEST(ZeroMemory, R113HasNoBuffersBeyondAFewUnits) {
  constexpr int64_t kRanks = 4;
  for (const int stage : {0, 1, 2, 3}) {
    SCOPED_TRACE(concat("stage ", stage));
    on_shards(kRanks,
              {concat("parallelism.zero_stage=", stage), "training.microbatch_size=3"},
              [&](const Held& held) {
                const int64_t persistent = kSingle[stage].bytes(held.parameters, kRanks);
                const int64_t most = held.step.peak[Category::kParameters] +
                                     held.step.peak[Category::kGradients] +
                                     held.step.peak[Category::kGathered] + held.moments;
                EXPECT_EQ(held.states, persistent);
                EXPECT_LE(most, persistent + 4 * held.largest_unit * 4);
              });
  }
}

}  // namespace
}  // namespace brigade::end_to_end
