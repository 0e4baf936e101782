// SPDX-License-Identifier: Apache-2.0
/// TrainerParts: what a Trainer is made of on one rank - place, program, parameters, model,
/// schedule, data, optimizer - built in this order. Internal to the module.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "parallel/collective/recorded_world.h"
#include "parallel/collective/world.h"
#include "parallel/executor/executor.h"
#include "parallel/mesh/mesh.h"
#include "parallel/schedule/schedule.h"
#include "parallel/tensor/program.h"
#include "parallel/zero/parameter_set.h"
#include "trainer/data/batcher.h"
#include "trainer/loop/model_shape.h"
#include "trainer/loop/trainer.h"
#include "trainer/loop/update.h"
#include "trainer/optim/learning_rate.h"

namespace brigade::loop {

// In order of construction: what comes later borrows from what comes before.
struct TrainerParts {
  TrainerOptions options;
  config::RunFacts facts = {};
  mesh::Mesh world_mesh = {};
  Seat seat = {};
  std::unique_ptr<collective::RecordedWorld> recorded = {};  ///< where there is a timeline
  std::unique_ptr<collective::Communicator> world = {};
  std::unique_ptr<collective::Communicator> pipeline = {};
  std::unique_ptr<tensor::Program> program = {};
  std::unique_ptr<zero::ParameterSet> parameters = {};
  std::unique_ptr<executor::Stage> stage = {};
  std::unique_ptr<executor::Executor> executor = {};
  std::unique_ptr<data::Batcher> batcher = {};
  schedule::Schedule training = {};    ///< of units
  schedule::Schedule evaluation = {};  ///< its forwards alone
  std::optional<optim::LearningRateSchedule> learning_rate = {};
  std::unique_ptr<ShardOptimizer> optimizer = {};

  /// Errors: Trainer::create()'s. Collective.
  static Result<TrainerParts> create(collective::World& all, TrainerOptions options);

  const config::RunConfig& config() const { return options.config; }
  int64_t data_rank() const { return seat.stage_rank / facts.tp; }
  const std::vector<schedule::Action>& actions_of(const schedule::Schedule& schedule) const {
    return schedule.per_rank[static_cast<size_t>(seat.stage)];
  }

  // Steps of create(), in this order.
  Result<void> join(collective::World& all);
  Result<void> build_program(collective::World& all);
  Result<void> build_model();
  Result<void> build_data();
  Result<void> build_schedule();
  Result<void> build_optimizer();
};

}  // namespace brigade::loop
