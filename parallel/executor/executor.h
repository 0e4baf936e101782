// SPDX-License-Identifier: Apache-2.0
/// Executor: runs one rank's action list over its stage. One executor for every schedule (law 12).
///
///   Executor executor({.program = &program, .stage = &stage, .parameters = &parameters,
///                      .pipeline = &pp_group, .world = &world_group});
///   Result<StepResult> step = executor.run_step(schedule.per_rank[pp_rank], batch, update);
///
/// Activations and gradients move between stages as tagged messages (microbatch, direction); sends
/// never block, receives are posted before they are needed.
///
/// The lists are of units (schedule/units.h): gathers and reductions run where they stand.
///
/// In flight:     one entry per microbatch and unit, freed by its backward. A recomputed unit keeps
///                its input alone, or that and its products, and runs its forward again then.
/// Failure:       whatever libtorch, a kernel or a communicator throws in a step comes back as an
///                Error that names rank, action and microbatch. What was posted stays pending until
///                the next step or the executor's end, so that the caller can abort the world with
///                that Error before a dropped message does.
/// Collective:    run_step and evaluate, on all ranks of the world.
/// Thread safety: belongs to one thread, the program's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parallel/base/exact_sum.h"
#include "parallel/base/result.h"
#include "parallel/base/timeline.h"
#include "parallel/collective/communicator.h"
#include "parallel/executor/stage.h"
#include "parallel/schedule/schedule.h"
#include "parallel/zero/parameter_set.h"

namespace brigade::executor {

/// What a unit keeps from its forward for its backward.
enum class Keep : uint8_t {
  kAll,       ///< everything that its ops save
  kProducts,  ///< its input and the results of its matrix products: the rest is computed again
  kInput      ///< its input: all of it is computed again
};

struct Context {
  tensor::Program* program = nullptr;  ///< over the stage's own sub-mesh
  Stage* stage = nullptr;
  zero::ParameterSet* parameters = nullptr;
  /// One rank per stage, in stage order; same coordinates elsewhere. Null where the lists name no
  /// message and no parameter is tied to another stage's.
  collective::Communicator* pipeline = nullptr;
  collective::Communicator* world = nullptr;
  /// One rank among those that hold equal losses (its tensor coordinate is 0).
  bool counts_loss = true;
  /// Parameters of this stage that the last stage uses as well, tied (facts.tied_to there names
  /// them). The owner is on the first stage.
  std::vector<std::string> tied_owned;
  /// Per unit of the stage; empty: kAll.
  std::vector<Keep> keep = {};
  /// Takes a span for each action; null: nobody looks.
  Timeline* timeline = nullptr;
};

/// This rank's share of one step.
struct Batch {
  std::vector<Microbatch> microbatches;
  int64_t trained_tokens = 0;  ///< of the whole global batch: the one divisor (law 3)
};

struct StepResult {
  double loss = 0.0;           ///< mean over the trained tokens of the global batch
  double gradient_norm = 0.0;  ///< over all parameters, before clipping
  bool finite = true;          ///< loss and all gradients, on all ranks
  std::string first_bad;  ///< "gradient of model.norm.weight on rank 3", equal on all ranks; empty
                          ///< if finite
};

/// Called between the norm and the gather, when loss and gradients are finite: updates
/// parameters.shards(). Local.
using Update = std::function<Result<void>(const StepResult& step)>;

/// Called before each action, for tests and tracing.
using Observer = std::function<void(const schedule::Action& action)>;

class Executor {
 public:
  explicit Executor(Context context);
  ~Executor();

  void set_observer(Observer observer);

  /// Forward, backward, reduction, norm, update, gather. If the result is not finite, nothing was
  /// updated and gradients are dropped; the caller decides whether to go on, alike on all ranks
  /// since the result is equal on all.
  /// Errors: kData when the batch has no trained token; kInternal for what libtorch threw; others
  /// as they came.
  Result<StepResult> run_step(const std::vector<schedule::Action>& actions,
                              const Batch& batch,
                              const Update& update);

  /// Forwards alone (schedule::forwards_of), without history: the mean loss over the trained
  /// tokens.
  Result<double> evaluate(const std::vector<schedule::Action>& actions, const Batch& batch);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace brigade::executor
