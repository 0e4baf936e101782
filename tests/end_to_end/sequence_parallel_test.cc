// SPDX-License-Identifier: Apache-2.0
/// Sequence parallelism: a choice of where rows of the residual stream live, and nothing else. The
/// curve is that of one rank (law 1); what acts on the stream is equal on all tensor ranks, with
/// the gradient of all tokens.
#include <map>
#include <mutex>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/end_to_end/harness.h"
#include "tests/end_to_end/layouts.h"

namespace brigade::end_to_end {
namespace {

const Settings kSequenceParallel = {"parallelism.sequence_parallel=true"};

/// Heads that `tp` divides.
Settings heads_for(int64_t tp) {
  return tp == 3 ? Settings{"model.dim=48", "model.n_heads=6", "model.n_kv_heads=6"} : Settings{};
}

class SequenceParallel : public ::testing::TestWithParam<Degrees> {};

TEST_P(SequenceParallel, TrainsTheCurveOfOneRank) {
  const Degrees& degrees = GetParam();
  const Settings model =
      heads_for(degrees.tp) + Settings{"training.microbatch_size=2", "training.max_norm=0.5"};
  const auto source = random_tokens(96, 16, 100);
  const Outcome one = train(trial_of({}, model), source, 5);
  for (const Way& way : ways(degrees)) {
    SCOPED_TRACE(way.name);
    expect_same_curve(train(trial_of(degrees, model + kSequenceParallel + way.settings), source, 5),
                      one);
  }
}

INSTANTIATE_TEST_SUITE_P(EndToEnd,
                         SequenceParallel,
                         ::testing::Values(Degrees{},
                                           Degrees{.tp = 2},
                                           Degrees{.tp = 3},  // 16 places: 5, 5 and 6
                                           Degrees{.tp = 4},
                                           Degrees{.shard = 2, .tp = 2},
                                           Degrees{.replicate = 2, .tp = 2},
                                           Degrees{.tp = 2, .pp = 2},
                                           Degrees{.shard = 2, .tp = 2, .pp = 2}),
                         [](const ::testing::TestParamInfo<Degrees>& test) {
                           return test.param.name();
                         });

TEST(SequenceParallelShort, RunsWithFewerPlacesThanTensorRanks) {
  const Settings model = {"training.seq_len=3", "training.microbatch_size=2"};
  const auto source = random_tokens(96, 3, 100);
  const Outcome one = train(trial_of({}, model), source, 3);
  for (const Way& way : ways({.tp = 4})) {
    SCOPED_TRACE(way.name);
    expect_same_curve(
        train(trial_of({.tp = 4}, model + kSequenceParallel + way.settings), source, 3), one);
  }
}

struct Family {
  std::string name;
  const char* recipe;
  std::vector<int64_t> tensor_degrees;
  int64_t vocabulary;
};

void PrintTo(const Family& family, std::ostream* out) {
  *out << family.name;
}

/// The tensors of all ranks by parameter and step.
using Copies = std::map<std::pair<std::string, size_t>, std::vector<at::Tensor>>;

/// Notes, of every parameter that tensor ranks hold whole, the reduced gradient before each update
/// and the weight after it.
class Watch {
 public:
  explicit Watch(Trial& trial) {
    trial.prepare = [this](loop::Trainer& trainer, collective::World&) {
      trainer.set_observer([this, &trainer](const schedule::Action& action) {
        if (action.kind == schedule::ActionKind::kOptimizerStep) {
          note(trainer, gradients_, &zero::ParameterSet::reduced_gradient);
        }
      });
    };
    trial.after_step = [this](loop::Trainer& trainer, collective::World&) {
      note(trainer, weights_, &zero::ParameterSet::stored_weight);
    };
  }

  const Copies& gradients() const { return gradients_; }
  const Copies& weights() const { return weights_; }

 private:
  using Read = at::Tensor (zero::ParameterSet::*)(std::string_view);

  void note(loop::Trainer& trainer, Copies& copies, Read read) {
    const std::lock_guard<std::mutex> lock(mutex_);
    zero::ParameterSet& parameters = trainer.parameters();
    size_t& step = steps_[{&trainer, &copies}];
    for (const sharding::ParameterFacts& facts : parameters.facts()) {
      if (parameters.placement(facts.name).used.spec.dim_of("tp") < 0) {
        copies[{facts.name, step}].push_back((parameters.*read)(facts.name).detach().clone());
      }
    }
    ++step;
  }

  std::mutex mutex_;
  std::map<std::pair<const loop::Trainer*, const Copies*>, size_t> steps_;
  Copies gradients_;
  Copies weights_;
};

class WholeParameters : public ::testing::TestWithParam<Family> {
 protected:
  static constexpr int64_t kSteps = 3;

  Trial trial(int64_t tp, const Settings& settings) const {
    Trial made = trial_of({.tp = tp}, settings);
    made.recipe = GetParam().recipe;
    return made;
  }

  void run(const Trial& trial) const {
    train(trial, random_tokens(GetParam().vocabulary, 16, 100), kSteps);
  }
};

TEST_P(WholeParameters, R003_AreEqualOnAllTensorRanksAfterEveryStep) {
  for (const int64_t tp : GetParam().tensor_degrees) {
    for (const Way& way : ways({.tp = tp})) {
      Trial split = trial(tp, kSequenceParallel + way.settings);
      const Watch watch(split);
      run(split);
      ASSERT_FALSE(watch.weights().empty());
      for (const Copies* copies : {&watch.gradients(), &watch.weights()}) {
        for (const auto& [key, values] : *copies) {
          ASSERT_EQ(values.size(), static_cast<size_t>(tp)) << key.first;
          for (const at::Tensor& value : values) {
            EXPECT_TRUE(at::equal(value, values.front()))
                << key.first << " after step " << key.second << ", tp" << tp << ' ' << way.name;
          }
        }
      }
    }
  }
}

TEST_P(WholeParameters, R004_HaveTheGradientOfAllTokensAndNotItsMean) {
  Trial whole = trial(1, {});
  const Watch reference(whole);
  run(whole);
  for (const int64_t tp : GetParam().tensor_degrees) {
    for (const Way& way : ways({.tp = tp})) {
      Trial split = trial(tp, kSequenceParallel + way.settings);
      const Watch watch(split);
      run(split);
      ASSERT_FALSE(watch.gradients().empty());
      for (const auto& [key, values] : watch.gradients()) {
        SCOPED_TRACE(concat(key.first, " in step ", key.second, ", tp", tp, ' ', way.name));
        const at::Tensor wanted = reference.gradients().at(key).front().to(at::kDouble);
        const at::Tensor found = values.front().to(at::kDouble);
        const double size = wanted.norm().item<double>();
        ASSERT_GT(size, 0.0);
        EXPECT_NEAR(found.norm().item<double>() / size, 1.0, 1e-5);
        EXPECT_LE((found - wanted).norm().item<double>(), 1e-4 * size);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(FieldReport,
                         WholeParameters,
                         ::testing::Values(Family{"llama", testing::kSmallRecipe, {2, 4}, 96},
                                           Family{"gpt2", kGpt2Recipe, {3}, 101}),
                         [](const ::testing::TestParamInfo<Family>& test) {
                           return test.param.name;
                         });

}  // namespace
}  // namespace brigade::end_to_end
