// SPDX-License-Identifier: Apache-2.0
/// Field reports about sizes that do not divide: vocabularies, heads, layers, microbatches, worlds.
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "models/llama/config.h"
#include "parallel/base/text.h"
#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/layouts.h"

namespace brigade::end_to_end {
namespace {

Settings batches(int64_t global, int64_t microbatch) {
  return {concat("training.global_batch_size=", global),
          concat("training.microbatch_size=", microbatch)};
}

/// Heads that `tp` divides.
Settings heads_for(int64_t tp) {
  return tp == 3 ? Settings{"model.dim=48", "model.n_heads=6", "model.n_kv_heads=6"} : Settings{};
}

class Vocabulary : public ::testing::TestWithParam<int64_t> {};

TEST_P(Vocabulary, R066_NeedsNoPaddingOverTensorRanks) {
  const int64_t vocabulary = GetParam();
  const auto source = random_tokens(vocabulary, 16, 100);
  for (const int64_t tp : {2, 3, 4}) {
    for (const char* tied : {"false", "true"}) {
      const Settings model = heads_for(tp) + Settings{concat("model.vocab_size=", vocabulary),
                                                      concat("model.tie_embeddings=", tied),
                                                      "training.microbatch_size=6"};
      const Outcome one = train(trial_of({}, model), source, 5);
      for (const Way& way : ways({.tp = tp})) {
        SCOPED_TRACE(concat("tp", tp, " tied ", tied, ' ', way.name));
        const Outcome found = train(trial_of({.tp = tp}, model + way.settings), source, 5);
        expect_same_curve(found, one);
        EXPECT_EQ(found.parameter_count, one.parameter_count);
        EXPECT_EQ(found.parameters.at("model.embed_tokens.weight").size(0), vocabulary);
      }
    }
  }
}

TEST_P(Vocabulary, R066_HasTheLossOfAnEvenGuessWithAZeroHead) {
  const int64_t vocabulary = GetParam();
  for (const int64_t tp : {1, 2, 3, 4}) {
    Trial trial =
        trial_of({.tp = tp}, heads_for(tp) + Settings{concat("model.vocab_size=", vocabulary)});
    trial.prepare = [](loop::Trainer& trainer, collective::World&) {
      trainer.parameters().stored_weight("lm_head.weight").zero_();
    };
    const Outcome found = train(trial, random_tokens(vocabulary, 16, 100), 1);
    EXPECT_NEAR(found.losses()[0], std::log(static_cast<double>(vocabulary)), 1e-6) << "tp" << tp;
  }
}

INSTANTIATE_TEST_SUITE_P(FieldReport,
                         Vocabulary,
                         ::testing::Values(96, 97, 98, 101),
                         [](const ::testing::TestParamInfo<int64_t>& test) {
                           return concat("of", test.param);
                         });

void expect_refusal(const Degrees& degrees,
                    const Settings& settings,
                    const std::vector<std::string>& parts) {
  for (const Way& way : ways(degrees)) {
    const Error error =
        failure_of(trial_of(degrees, settings + way.settings), random_tokens(96, 16, 100), 1);
    EXPECT_EQ(error.code, ErrorCode::kUsage);
    for (const std::string& part : parts) {
      EXPECT_NE(error.text.find(part), std::string::npos)
          << "\"" << part << "\" is not in: " << error.text;
    }
  }
}

TEST(FieldReport, R067_RefusesHeadsThatCannotBeSplitAndNamesTheDegreesThatCan) {
  expect_refusal({.tp = 4},
                 {"model.n_kv_heads=2"},
                 {"2 key and value heads cannot be split over tp=4", "tp may be 1, 2"});
  expect_refusal({.tp = 2},
                 {"model.n_kv_heads=1"},
                 {"1 key and value heads cannot be split over tp=2", "tp may be 1"});
  expect_refusal({.tp = 3}, {}, {"4 query heads cannot be split over tp=3", "tp may be 1, 2, 4"});
}

std::set<std::string> layers_of(const Outcome& outcome) {
  const std::string prefix = "model.layers.";
  std::set<std::string> layers;
  for (const auto& [name, value] : outcome.parameters) {
    if (name.starts_with(prefix)) {
      layers.insert(name.substr(prefix.size(), name.find('.', prefix.size()) - prefix.size()));
    }
  }
  return layers;
}

TEST(FieldReport, R069_LosesNoLayerForAnyNumberOfLayersAndStages) {
  for (int64_t layers = 1; layers <= 9; ++layers) {
    const Settings model = {concat("model.n_layers=", layers)};
    const llama::Config sizes{.dim = 32,
                              .n_layers = layers,
                              .n_heads = 4,
                              .n_kv_heads = 4,
                              .ffn_dim = 64,
                              .vocab_size = 96};
    for (int64_t stages = 1; stages <= 5; ++stages) {
      SCOPED_TRACE(concat(layers, " layers on ", stages, " stages"));
      if (layers < stages) {
        expect_refusal(
            {.pp = stages}, model, {concat(layers, " layers cannot fill pp=", stages, " stages")});
        continue;
      }
      const Outcome found = train(trial_of({.pp = stages}, model), random_tokens(96, 16, 100), 0);
      EXPECT_EQ(layers_of(found).size(), static_cast<size_t>(layers));
      // Summed over stages: a layer on two of them would count twice.
      EXPECT_EQ(found.parameter_count, llama::parameter_count(sizes));
    }
  }
}

TEST(FieldReport, R070_RunsFewerMicrobatchesThanStages) {
  for (const int64_t count : {1, 2, 3, 4, 5, 7}) {
    const auto source = random_tokens(96, 16, 100);
    const Outcome one = train(trial_of({}, batches(count, count)), source, 5);
    for (const Way& way : ways({.pp = 4})) {
      SCOPED_TRACE(concat("m ", count, ' ', way.name));
      expect_same_curve(train(trial_of({.pp = 4}, batches(count, 1) + way.settings), source, 5),
                        one);
    }
  }
}

struct OddWorld {
  Degrees degrees;
  int64_t microbatch;
};

class WorldOfOddSize : public ::testing::TestWithParam<OddWorld> {};

TEST_P(WorldOfOddSize, R076_TrainsTheCurveOfOneRank) {
  const auto& [degrees, microbatch] = GetParam();
  const auto source = random_tokens(96, 16, 1000);
  const Outcome one = train(trial_of({}, batches(105, 105)), source, 5);
  for (const Way& way : ways(degrees)) {
    SCOPED_TRACE(way.name);
    expect_same_curve(train(trial_of(degrees, batches(105, microbatch) + way.settings), source, 5),
                      one);
  }
}

INSTANTIATE_TEST_SUITE_P(FieldReport,
                         WorldOfOddSize,
                         ::testing::Values(OddWorld{{.shard = 3}, 7},
                                           OddWorld{{.pp = 3}, 15},
                                           OddWorld{{.shard = 3, .pp = 2}, 5},
                                           OddWorld{{.shard = 5}, 7},
                                           OddWorld{{.shard = 7}, 5}),
                         [](const ::testing::TestParamInfo<OddWorld>& test) {
                           return test.param.degrees.name();
                         });

}  // namespace
}  // namespace brigade::end_to_end
