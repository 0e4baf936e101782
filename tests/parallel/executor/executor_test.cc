// SPDX-License-Identifier: Apache-2.0
#include "parallel/executor/executor.h"

#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/parallel/executor/chain_ranks.h"

namespace brigade::executor {
namespace {

using schedule::Action;
using schedule::ActionKind;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::vector<schedule::Kind> kKinds = {schedule::Kind::kGPipe,
                                            schedule::Kind::kOneForwardOneBackward};

void expect_close(const Tensors& found, const Tensors& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (const auto& [name, tensor] : wanted) {
    EXPECT_TRUE(at::allclose(found.at(name), tensor, 1e-5, 1e-6)) << name;
  }
}

void expect_same_bits(const Tensors& found, const Tensors& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (const auto& [name, tensor] : wanted) {
    EXPECT_TRUE(at::equal(found.at(name), tensor)) << name;
  }
}

/// Whole gradients of a run at stage 0, from data rank 0 of every pipeline stage; steps and weights
/// as the run goes on.
struct TrainingRun {
  std::vector<StepResult> steps;
  std::vector<Tensors> gradients;
  Tensors weights;
};

/// `steps` steps of gradient descent; StepResult is checked to be equal on all ranks.
TrainingRun run(const ChainSetup& setup, int64_t steps) {
  TrainingRun made;
  made.gradients.resize(static_cast<size_t>(steps));
  std::mutex mutex;
  std::vector<std::vector<StepResult>> results(static_cast<size_t>(setup.stages * setup.data));
  on_chain(setup, [&](Rank& rank) {
    Executor executor(rank.context());
    for (int64_t i = 0; i < steps; ++i) {
      const Update step_down = descend(rank, 0.5);
      const Update update = [&](const StepResult& step) {
        if (rank.data_rank == 0) {
          const std::lock_guard lock(mutex);
          for (const zero::Shard& shard : rank.parameters->shards()) {
            made.gradients[static_cast<size_t>(i)][shard.facts->name] = shard.gradient.clone();
          }
        }
        return step_down(step);
      };
      results[static_cast<size_t>(rank.world.rank())].push_back(
          value_or_throw(executor.run_step(rank.actions, rank.batch(), update)));
    }
    const std::lock_guard lock(mutex);
    for (const sharding::ParameterFacts& facts : rank.parameters->facts()) {
      const at::Tensor weight = rank.parameters->stored_weight(facts.name).clone();
      const auto [known, is_new] = made.weights.emplace(facts.name, weight);
      EXPECT_TRUE(is_new || at::equal(known->second, weight)) << facts.name;
    }
  });
  made.steps = results[0];
  for (const std::vector<StepResult>& result : results) {
    for (size_t i = 0; i < result.size(); ++i) {
      EXPECT_EQ(result[i].loss, made.steps[i].loss);
      EXPECT_EQ(result[i].gradient_norm, made.steps[i].gradient_norm);
      EXPECT_TRUE(result[i].finite);
    }
  }
  return made;
}

void expect_plain(const TrainingRun& found, const ChainSetup& setup) {
  const Outcome wanted =
      plain_outcome(initial_weights(setup.tied), setup.data * setup.microbatches, setup.tied);
  EXPECT_NEAR(found.steps[0].loss, wanted.loss, 1e-5);
  EXPECT_NEAR(found.steps[0].gradient_norm, wanted.norm, 1e-5 * wanted.norm);
  expect_close(found.gradients[0], wanted.gradients);
}

TEST(Executor, GivesPlainAutogradsLossAndGradients) {
  for (const int64_t microbatches : {1, 3, 4}) {
    const ChainSetup setup{.microbatches = microbatches};
    expect_plain(run(setup, 1), setup);
  }
}

TEST(Executor, GivesOneRanksBitsOnEveryPipeline) {
  for (const bool tied : {false, true}) {
    for (const int64_t microbatches : {1, 3, 4}) {
      const TrainingRun wanted = run({.microbatches = microbatches, .tied = tied}, 2);
      for (const int64_t stages : {2, 4}) {
        for (const schedule::Kind kind : kKinds) {
          const ChainSetup setup{
              .stages = stages, .microbatches = microbatches, .kind = kind, .tied = tied};
          SCOPED_TRACE(setup.to_string());
          const TrainingRun found = run(setup, 2);
          for (size_t step = 0; step < 2; ++step) {
            EXPECT_EQ(found.steps[step].loss, wanted.steps[step].loss);
            EXPECT_EQ(found.steps[step].gradient_norm, wanted.steps[step].gradient_norm);
            expect_same_bits(found.gradients[step], wanted.gradients[step]);
          }
          expect_same_bits(found.weights, wanted.weights);
        }
      }
    }
  }
}

TEST(Executor, GivesOneRanksBitsOverDataAndPipelineRanks) {
  for (const bool tied : {false, true}) {
    const TrainingRun wanted = run({.microbatches = 4, .tied = tied}, 2);
    for (const int64_t stages : {1, 2}) {
      for (const int zero_stage : {0, 1}) {
        const ChainSetup setup{
            .stages = stages, .data = 2, .microbatches = 2, .zero_stage = zero_stage, .tied = tied};
        SCOPED_TRACE(setup.to_string());
        const TrainingRun found = run(setup, 2);
        EXPECT_EQ(found.steps[1].loss, wanted.steps[1].loss);
        EXPECT_EQ(found.steps[1].gradient_norm, wanted.steps[1].gradient_norm);
        expect_same_bits(found.weights, wanted.weights);
      }
    }
  }
}

TEST(Executor, AddsBothGradientsOfATiedParameter) {
  for (const int64_t stages : {1, 2, 4}) {
    const ChainSetup setup{.stages = stages, .microbatches = 3, .tied = true};
    const TrainingRun found = run(setup, 2);
    expect_plain(found, setup);
    EXPECT_TRUE(at::equal(found.weights.at("head.weight"), found.weights.at("embed.weight")));
  }
}

TEST(Executor, EvaluatesWithoutTouchingAnything) {
  for (const int64_t stages : {1, 2, 4}) {
    on_chain({.stages = stages, .data = 2, .microbatches = 3}, [](Rank& rank) {
      Executor executor(rank.context());
      const double loss = value_or_throw(executor.evaluate(rank.evaluation, rank.batch()));
      EXPECT_EQ(rank.parameters->gradient_bytes(), 0);
      const StepResult step =
          value_or_throw(executor.run_step(rank.actions, rank.batch(), descend(rank, 0.5)));
      EXPECT_EQ(loss, step.loss);
      EXPECT_LT(value_or_throw(executor.evaluate(rank.evaluation, rank.batch())), loss);
    });
  }
}

TEST(Executor, ShowsEachActionBeforeItRuns) {
  on_chain({.stages = 2, .microbatches = 3}, [](Rank& rank) {
    Executor executor(rank.context());
    std::vector<Action> seen;
    executor.set_observer([&](const Action& action) { seen.push_back(action); });
    value_or_throw(executor.run_step(rank.actions, rank.batch(), descend(rank, 0.5)));
    EXPECT_EQ(seen, rank.actions);
  });
}

TEST(Executor, DropsGradientsAfterAStep) {
  on_chain({.stages = 2, .microbatches = 2}, [](Rank& rank) {
    Executor executor(rank.context());
    value_or_throw(executor.run_step(rank.actions, rank.batch(), descend(rank, 0.5)));
    EXPECT_EQ(rank.parameters->gradient_bytes(), 0);
  });
}

TEST(Executor, RefusesABatchWithoutTrainedTokens) {
  on_chain({.stages = 2}, [](Rank& rank) {
    Executor executor(rank.context());
    Batch batch = rank.batch();
    batch.trained_tokens = 0;
    const auto step = executor.run_step(rank.actions, batch, descend(rank, 0.5));
    ASSERT_FALSE(step);
    EXPECT_EQ(step.error().code, ErrorCode::kData);
    EXPECT_FALSE(executor.evaluate(rank.evaluation, batch));
  });
}

/// A step whose result is not finite: the same on all ranks, nothing updated; the next is as usual.
void expect_skipped(const ChainSetup& setup,
                    const std::function<std::function<void()>(Rank&)>& spoil,
                    const ::testing::Matcher<const std::string&>& first_bad) {
  on_chain(setup, [&](Rank& rank) {
    Executor executor(rank.context());
    const std::function<void()> repair = spoil(rank);
    bool updated = false;
    const Update update = [&](const StepResult&) -> Result<void> {
      updated = true;
      return {};
    };
    const StepResult step = value_or_throw(executor.run_step(rank.actions, rank.batch(), update));
    EXPECT_FALSE(step.finite);
    EXPECT_THAT(step.first_bad, first_bad);
    EXPECT_FALSE(updated);
    EXPECT_EQ(rank.parameters->gradient_bytes(), 0);
    repair();
    const StepResult next = value_or_throw(executor.run_step(rank.actions, rank.batch(), update));
    EXPECT_TRUE(next.finite) << next.first_bad;
    EXPECT_EQ(next.first_bad, "");
    EXPECT_TRUE(updated);
  });
}

TEST(Executor, NamesABadGradientAlikeOnAllRanks) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    expect_skipped(
        {.stages = 2, .data = 2, .microbatches = 2, .zero_stage = 1},
        [bad](Rank& rank) -> std::function<void()> {
          if (rank.world.rank() != 3) {
            return [] {};
          }
          // The whole gradient is bad, so each rank of the second stage has bad rows of it.
          at::Tensor leaf = rank.parameters->weight("layer.3.weight").local();
          const unsigned hook =
              leaf.register_hook([bad](const at::Tensor& gradient) { return gradient * bad; });
          return [leaf, hook] { leaf.remove_hook(hook); };
        },
        "gradient of layer.3.weight on rank 2");
  }
}

TEST(Executor, NamesABadLossBeforeGradients) {
  expect_skipped(
      {.stages = 2, .data = 2, .microbatches = 2},
      [](Rank& rank) -> std::function<void()> {
        if (rank.world.rank() != 1) {
          return [] {};
        }
        at::Tensor weight = rank.parameters->stored_weight("layer.0.weight");
        const at::Tensor before = weight.clone();
        weight.fill_(std::numeric_limits<double>::quiet_NaN());
        return [weight, before] { weight.copy_(before); };
      },
      "loss on rank 3");
}

/// Runs a step in which `rank` 1 fails with `failing`; gives each rank's error.
std::vector<Error> errors_of(const ChainSetup& setup,
                             const std::function<void(const Action&)>& failing) {
  std::vector<Error> errors(static_cast<size_t>(setup.stages * setup.data));
  on_chain(setup, [&](Rank& rank) {
    Executor executor(rank.context());
    if (rank.world.rank() == 1) {
      executor.set_observer(failing);
    }
    const auto step = executor.run_step(rank.actions, rank.batch(), descend(rank, 0.5));
    ASSERT_FALSE(step);
    errors[static_cast<size_t>(rank.world.rank())] = step.error();
    rank.world.abort(step.error());
  });
  return errors;
}

template <class Throw>
std::function<void(const Action&)> at_action(std::string text, Throw body) {
  return [text = std::move(text), body](const Action& action) {
    if (schedule::to_string(action) == text) {
      body();
    }
  };
}

TEST(Executor, NamesRankAndActionOfAFailure) {
  const ChainSetup setup{.stages = 4, .microbatches = 3};
  const std::vector<Error> errors =
      errors_of(setup, at_action("1F2.0", [] { throw std::runtime_error("no more stoves"); }));
  EXPECT_EQ(errors[1], (Error{ErrorCode::kInternal, "rank 1, 1F2.0: no more stoves", -1}));
  for (const size_t other : {0U, 2U, 3U}) {
    EXPECT_EQ(errors[other].code, ErrorCode::kAborted) << errors[other].text;
    EXPECT_EQ(errors[other].origin_rank, 1);
    EXPECT_THAT(errors[other].text, HasSubstr("rank 1, 1F2.0: no more stoves"));
  }
}

TEST(Executor, ShowsLibtorchsMessageWithoutItsBacktrace) {
  const std::vector<Error> errors = errors_of({.stages = 2}, at_action("1B0.2", [] {
                                                at::ones({2, 3}).matmul(at::ones({2, 3}));
                                              }));
  EXPECT_THAT(errors[1].text, StartsWith("rank 1, 1B0.2: mat1 and mat2 shapes"));
  EXPECT_THAT(errors[1].text, ::testing::Not(HasSubstr("frame #0")));
}

TEST(Executor, KeepsTheCodeOfAnException) {
  const std::vector<Error> errors = errors_of({.stages = 2}, at_action("NORM", [] {
                                                throw Exception(Error{ErrorCode::kIo, "full"});
                                              }));
  EXPECT_EQ(errors[1], (Error{ErrorCode::kIo, "rank 1, NORM: full", -1}));
}

TEST(Executor, PassesOnAFailedUpdate) {
  on_chain({}, [](Rank& rank) {
    Executor executor(rank.context());
    const auto step =
        executor.run_step(rank.actions, rank.batch(), [](const StepResult&) -> Result<void> {
          return fail(ErrorCode::kUsage, "no such optimizer");
        });
    ASSERT_FALSE(step);
    EXPECT_EQ(step.error(), (Error{ErrorCode::kUsage, "rank 0, OPT_STEP: no such optimizer", -1}));
  });
}

}  // namespace
}  // namespace brigade::executor
