// SPDX-License-Identifier: Apache-2.0
/// Trainer: a model, its data and its optimizer on one rank of a world; one call per step.
///
///   auto trainer = value_or_throw(Trainer::create(world, {.config = config, .training = source}));
///   for (...) { StepReport report = value_or_throw(trainer->step()); }
///
/// Collective:    create, step, validate, on all ranks of the world, in the same order.
/// Thread safety: belongs to one thread, the rank's.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parallel/collective/world.h"
#include "parallel/executor/executor.h"
#include "parallel/tensor/matmul.h"
#include "parallel/zero/parameter_set.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/shard_writer.h"
#include "trainer/checkpoint/tensor_source.h"
#include "trainer/config/resolve.h"
#include "trainer/config/run_config.h"
#include "trainer/data/token_source.h"

namespace brigade::loop {

struct TrainerOptions {
  config::RunConfig config;
  std::shared_ptr<const data::TokenSource> training;
  std::shared_ptr<const data::TokenSource> validation;  ///< null: validate() is not called
  /// Which library multiplies; empty: measured on rank 0 and told to all (fixed when deterministic
  /// or set by key).
  std::optional<tensor::MatmulTable> matmul = {};
  /// Takes what the rank does in each step; null: nobody looks.
  std::shared_ptr<Timeline> timeline = {};
};

struct StepReport {
  int64_t step = 0;  ///< from 1
  double loss = 0.0;
  double gradient_norm = 0.0;  ///< before clipping
  double learning_rate = 0.0;
  int64_t trained_tokens = 0;  ///< of the global batch
  bool skipped = false;   ///< not finite, and training.on_nonfinite = "skip": nothing was updated
  std::string first_bad;  ///< of a skipped step
};

struct ValidationReport {
  double loss = 0.0;
  int64_t trained_tokens = 0;
};

class Trainer {
 public:
  /// Builds everything and initialises the weights.
  /// Errors: kUsage for what the config asks of this world; kData when the source's vocabulary is
  ///         larger than the model's; the communicator's.
  static Result<std::unique_ptr<Trainer>> create(collective::World& world, TrainerOptions options);
  ~Trainer();

  /// The next step.
  /// Errors: kNonFinite naming step, rank and tensor (all ranks alike) when training.on_nonfinite
  ///         says stop or too many steps in a row were skipped; the executor's.
  Result<StepReport> step();

  /// The mean loss over the validation source, or over validation.steps batches of it. A last batch
  /// that is not full is filled with rows that are not trained, so no sample is left out.
  Result<ValidationReport> validate();

  /// Of each value the largest of all ranks. Collective.
  Result<std::vector<int64_t>> largest(std::vector<int64_t> values);

  /// The deadline of all communication from now on.
  void set_timeout(std::chrono::milliseconds timeout);

  /// What of the learning rate's settings could not be had as given; to be printed once.
  const std::vector<std::string>& warnings() const;

  const config::RunFacts& facts() const;
  const tensor::MatmulTable& matmul() const;
  int64_t samples_consumed() const { return counters().samples; }
  /// How far the run has come.
  const checkpoint::Counters& counters() const;
  /// Goes on from there, with the weights and states that were loaded.
  void set_counters(const checkpoint::Counters& counters);
  /// What this rank writes of a checkpoint (run_state.h): valid until the next step. Local.
  std::vector<checkpoint::StateBox> boxes_to_write(bool model_only);
  /// Reads this rank's weights, and the optimizer's states if `states`; parameters().gather() has
  /// to follow. Local.
  /// Errors: the source's.
  Result<void> load(checkpoint::TensorSource& source, bool states);
  zero::ParameterSet& parameters();
  /// Of this rank's optimizer states, which are no tensors.
  int64_t optimizer_bytes();
  tensor::Program& program();
  /// Called before each action of each step.
  void set_observer(executor::Observer observer);

 private:
  struct Impl;
  explicit Trainer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace brigade::loop
