// SPDX-License-Identifier: Apache-2.0
/// Law 1: one program, one curve. Five steps on every mesh, under every ZeRO stage and schedule,
/// with one microbatch and with several, end where one rank ends.
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/layouts.h"

namespace brigade::end_to_end {
namespace {

constexpr int64_t kSteps = 5;
constexpr int64_t kGlobalBatch = 12;

struct Model {
  std::string name;
  Settings settings;
  int64_t vocabulary = 96;
};

const Model kBase{"base", {}};
const Model kVocabulary97{"vocabulary97", {"model.vocab_size=97"}, 97};
const Model kSevenLayers{"seven_layers", {"model.n_layers=7"}};
const Model kTied{"tied", {"model.tie_embeddings=true"}};

std::string microbatch(int64_t size) {
  return concat("training.microbatch_size=", size);
}

Outcome run(const Degrees& degrees, const Model& model, const Settings& settings) {
  return train(trial_of(degrees, model.settings + settings),
               random_tokens(model.vocabulary, 16, 100),
               kSteps);
}

/// One rank, the whole batch at once; made once in a process.
const Outcome& reference(const Model& model, const Recipe& recipe) {
  static std::map<std::string, Outcome> known;
  const std::string key = model.name + recipe.name;
  if (!known.contains(key)) {
    known[key] = run({}, model, recipe.settings + Settings{microbatch(kGlobalBatch)});
  }
  return known.at(key);
}

struct Point {
  Degrees degrees;
  Model model = kBase;
};

void PrintTo(const Point& point, std::ostream* out) {
  *out << point.model.name << ' ' << point.degrees.name();
}

class Law1 : public ::testing::TestWithParam<Point> {};

TEST_P(Law1, TrainsTheCurveOfOneRank) {
  const auto& [degrees, model] = GetParam();
  const int64_t share = kGlobalBatch / degrees.data_ranks();
  const int64_t several = share % 2 == 0 ? 2 : 1;
  for (const Recipe& recipe : {kSgdRecipe, kAdamWRecipe}) {
    for (const Way& way : ways(degrees)) {
      for (const int64_t size : {share, several}) {
        SCOPED_TRACE(concat(recipe.name, " ", way.name, " microbatch ", size));
        const Outcome found =
            run(degrees, model, recipe.settings + way.settings + Settings{microbatch(size)});
        expect_same_curve(found, reference(model, recipe), {.parameters = recipe.parameters});
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EndToEnd,
                         Law1,
                         ::testing::Values(Point{{}},
                                           Point{{.shard = 2}},
                                           Point{{.shard = 3}},
                                           Point{{.tp = 2}},
                                           Point{{.tp = 4}},
                                           Point{{.pp = 2}},
                                           Point{{.pp = 4}},
                                           Point{{.shard = 2, .tp = 2}},
                                           Point{{.shard = 2, .pp = 2}},
                                           Point{{.tp = 2, .pp = 2}},
                                           Point{{.shard = 2, .tp = 2, .pp = 2}},
                                           Point{{.replicate = 2, .shard = 3}},
                                           Point{{.replicate = 2, .shard = 2, .tp = 2}},
                                           Point{{.tp = 2}, kVocabulary97},
                                           Point{{.pp = 2}, kSevenLayers},
                                           Point{{.pp = 4}, kSevenLayers},
                                           Point{{.pp = 2}, kTied},
                                           Point{{.tp = 2, .pp = 2}, kTied}),
                         [](const ::testing::TestParamInfo<Point>& test) {
                           return test.param.model.name + "_" + test.param.degrees.name();
                         });

}  // namespace
}  // namespace brigade::end_to_end
