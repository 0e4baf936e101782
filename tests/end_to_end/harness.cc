// SPDX-License-Identifier: Apache-2.0
#include "tests/end_to_end/harness.h"

#include <cmath>
#include <mutex>
#include <utility>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/base/philox.h"
#include "parallel/base/text.h"
#include "parallel/tensor/buffers.h"
#include "parallel/tensor/program.h"
#include "tests/support/rank_threads.h"
#include "trainer/checkpoint/safetensors.h"
#include "trainer/config/load.h"

namespace brigade::end_to_end {

const char* const kGpt2Recipe = R"(
[model]
name = "gpt2"
dim = 24
n_layers = 2
n_heads = 3
ffn_dim = 96
vocab_size = 101
n_positions = 32
norm_eps = 1e-5
[optimizer]
name = "SGD"
lr = 0.1
weight_decay = 0.0
[lr_scheduler]
warmup_steps = 0
decay_ratio = 0.0
[training]
dataset = "synthetic"
seq_len = 16
global_batch_size = 12
local_batch_size = 1
microbatch_size = 1
max_norm = 0.0
steps = 1000
[parallelism]
data_parallel_shard_degree = 1
[debug]
seed = 7
)";

namespace {

class RandomTokens final : public data::TokenSource {
 public:
  RandomTokens(int64_t vocabulary, int64_t sequence, int64_t samples)
      : vocabulary_(vocabulary), sequence_(sequence), samples_(samples) {}

  int64_t vocabulary_size() const override { return vocabulary_; }
  int64_t seq_len() const override { return sequence_; }
  int64_t sample_count() const override { return samples_; }
  int64_t trained_tokens(int64_t begin, int64_t end) const override {
    return (end - begin) * sequence_;
  }
  std::string description() const override { return "random tokens"; }

  Result<void> read(int64_t,
                    int64_t index,
                    std::span<int64_t> tokens,
                    std::span<int64_t> targets) const override {
    for (int64_t i = 0; i < sequence_; ++i) {
      tokens[static_cast<size_t>(i)] = token(index, i);
      targets[static_cast<size_t>(i)] = token(index, i + 1);
    }
    return {};
  }

 private:
  int64_t token(int64_t sample, int64_t place) const {
    const uint64_t block = static_cast<uint64_t>(sample * (sequence_ + 1) + place);
    return static_cast<int64_t>(philox(1, block, 0, random_stream("test", "tokens"))[0]) %
           vocabulary_;
  }

  int64_t vocabulary_;
  int64_t sequence_;
  int64_t samples_;
};

config::RunConfig config_of(const Trial& trial) {
  return value_or_throw(config::load_text(trial.recipe, "recipe", trial.settings));
}

void load_weights(loop::Trainer& trainer, const std::string& path) {
  const checkpoint::SafetensorsFile file = value_or_throw(checkpoint::SafetensorsFile::open(path));
  value_or_throw(trainer.parameters().load([&](const sharding::ParameterFacts& facts,
                                               const sharding::Box& box,
                                               at::Tensor& out) -> Result<void> {
    const std::string& name = facts.tied_to.empty() ? facts.name : facts.tied_to;
    Result<checkpoint::TensorView> view = file.tensor(name);
    if (!view) {
      return fail(view.error());
    }
    const std::vector<uint64_t> shape(facts.shape.begin(), facts.shape.end());
    view->shape = shape;  // of the same elements in the same order; a family may split a dim
    return file.read_box(*view, box, tensor::bytes_of(out));
  }));
  value_or_throw(trainer.parameters().gather());
}

std::unique_ptr<loop::Trainer> make_trainer(const Trial& trial,
                                            const std::shared_ptr<const data::TokenSource>& source,
                                            collective::World& world) {
  auto trainer = value_or_throw(loop::Trainer::create(
      world, {.config = config_of(trial), .training = source, .validation = nullptr}));
  if (!trial.weights.empty()) {
    load_weights(*trainer, trial.weights);
  }
  if (trial.prepare) {
    trial.prepare(*trainer, world);
  }
  return trainer;
}

/// Adds this rank's stage to the outcome: parameters made whole, by one rank of the stage.
void keep_parameters(loop::Trainer& trainer, std::mutex& mutex, Outcome& outcome) {
  for (const sharding::ParameterFacts& facts : trainer.parameters().facts()) {
    if (!facts.tied_to.empty()) {
      continue;
    }
    const at::Tensor whole = trainer.parameters().collect(facts.name);
    if (trainer.program().rank() == 0) {
      const std::lock_guard<std::mutex> lock(mutex);
      outcome.parameters[facts.name] = whole.clone();
      outcome.parameter_count += whole.numel();
    }
  }
}

}  // namespace

std::vector<double> Outcome::losses() const {
  std::vector<double> values;
  for (const loop::StepReport& step : steps) {
    values.push_back(step.loss);
  }
  return values;
}

std::vector<double> Outcome::norms() const {
  std::vector<double> values;
  for (const loop::StepReport& step : steps) {
    values.push_back(step.gradient_norm);
  }
  return values;
}

namespace {

/// One rank's run; `failure` is empty unless a step failed.
Outcome run_rank(const Trial& trial,
                 loop::Trainer& trainer,
                 collective::World& world,
                 int64_t steps) {
  Outcome outcome;
  for (int64_t step = 0; step < steps; ++step) {
    Result<loop::StepReport> report = trainer.step();
    if (!report) {
      outcome.failures.push_back(report.error());
      break;
    }
    outcome.steps.push_back(*std::move(report));
    if (trial.after_step) {
      trial.after_step(trainer, world);
    }
  }
  return outcome;
}

/// The same number; a NaN, as the norm of a bad step is, counts as itself.
bool is_same(double left, double right) {
  return left == right || (std::isnan(left) && std::isnan(right));
}

void expect_agreement(const Outcome& rank, const Outcome& first) {
  ASSERT_EQ(rank.steps.size(), first.steps.size()) << "ranks disagree on when to end";
  for (size_t i = 0; i < rank.steps.size(); ++i) {
    const loop::StepReport& mine = rank.steps[i];
    const loop::StepReport& theirs = first.steps[i];
    EXPECT_PRED2(is_same, mine.loss, theirs.loss) << "ranks disagree in step " << i;
    EXPECT_PRED2(is_same, mine.gradient_norm, theirs.gradient_norm)
        << "ranks disagree in step " << i;
    EXPECT_EQ(mine.skipped, theirs.skipped) << "ranks disagree in step " << i;
    EXPECT_EQ(mine.first_bad, theirs.first_bad) << "ranks disagree in step " << i;
  }
}

}  // namespace

Outcome attempt(const Trial& trial,
                std::shared_ptr<const data::TokenSource> source,
                int64_t steps) {
  Outcome outcome;
  bool first = true;
  std::mutex mutex;
  testing::run_ranks(trial.ranks, [&](collective::World& world) {
    const std::unique_ptr<loop::Trainer> trainer = make_trainer(trial, source, world);
    const Outcome rank = run_rank(trial, *trainer, world, steps);
    keep_parameters(*trainer, mutex, outcome);
    const std::lock_guard<std::mutex> lock(mutex);
    if (std::exchange(first, false)) {
      outcome.steps = rank.steps;
    }
    expect_agreement(rank, outcome);
    outcome.failures.insert(outcome.failures.end(), rank.failures.begin(), rank.failures.end());
  });
  return outcome;
}

Outcome train(const Trial& trial, std::shared_ptr<const data::TokenSource> source, int64_t steps) {
  Outcome outcome = attempt(trial, std::move(source), steps);
  if (!outcome.failures.empty()) {
    throw Exception(outcome.failures.front());
  }
  return outcome;
}

Result<void> run_on(collective::World& world,
                    const Trial& trial,
                    const std::shared_ptr<const data::TokenSource>& source,
                    int64_t steps) {
  try {
    const std::unique_ptr<loop::Trainer> trainer = make_trainer(trial, source, world);
    for (int64_t step = 0; step < steps; ++step) {
      if (Result<loop::StepReport> report = trainer->step(); !report) {
        world.abort(report.error());
        return fail(world.failure().value_or(report.error()));
      }
    }
  } catch (const Exception& error) {
    return fail(error.error());
  }
  return {};
}

Error failure_of(const Trial& trial,
                 std::shared_ptr<const data::TokenSource> source,
                 int64_t steps) {
  Error failure;
  std::mutex mutex;
  testing::run_ranks(trial.ranks, [&](collective::World& world) {
    const Result<void> result = run_on(world, trial, source, steps);
    EXPECT_FALSE(result) << "rank " << world.rank() << " did not fail";
    if (!result) {
      const std::lock_guard<std::mutex> lock(mutex);
      if (world.rank() == 0) {
        failure = result.error();
      }
    }
  });
  return failure;
}

void expect_same_curve(const Outcome& found, const Outcome& wanted, const Tolerance& tolerance) {
  ASSERT_EQ(found.steps.size(), wanted.steps.size());
  for (size_t i = 0; i < wanted.steps.size(); ++i) {
    EXPECT_NEAR(found.steps[i].loss, wanted.steps[i].loss, tolerance.loss) << "loss of step " << i;
    EXPECT_NEAR(found.steps[i].gradient_norm / wanted.steps[i].gradient_norm, 1.0, tolerance.norm)
        << "norm of step " << i;
  }
  ASSERT_EQ(found.parameters.size(), wanted.parameters.size());
  for (const auto& [name, value] : wanted.parameters) {
    ASSERT_TRUE(found.parameters.contains(name)) << name;
    EXPECT_LE((found.parameters.at(name) - value).abs().max().item<double>(), tolerance.parameters)
        << name;
  }
}

void expect_same_bits(const Outcome& found, const Outcome& wanted) {
  EXPECT_EQ(found.losses(), wanted.losses());
  EXPECT_EQ(found.norms(), wanted.norms());
  ASSERT_EQ(found.parameters.size(), wanted.parameters.size());
  for (const auto& [name, value] : wanted.parameters) {
    ASSERT_TRUE(found.parameters.contains(name)) << name;
    EXPECT_TRUE(at::equal(found.parameters.at(name), value)) << name;
  }
}

std::shared_ptr<const data::TokenSource> random_tokens(int64_t vocabulary,
                                                       int64_t sequence,
                                                       int64_t samples) {
  return std::make_shared<RandomTokens>(vocabulary, sequence, samples);
}

}  // namespace brigade::end_to_end
