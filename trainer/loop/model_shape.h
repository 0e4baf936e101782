// SPDX-License-Identifier: Apache-2.0
/// The model, the mesh and the axes of a run, as its config asks for them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/decoder/model.h"
#include "parallel/base/dtype.h"
#include "parallel/executor/executor.h"
#include "parallel/mesh/mesh.h"
#include "parallel/schedule/units.h"
#include "parallel/sharding/parameter_facts.h"
#include "parallel/zero/parameter_set.h"
#include "trainer/config/resolve.h"
#include "trainer/config/run_config.h"

namespace brigade::loop {

/// Of the family that model.name says.
std::unique_ptr<const decoder::Model> model_of(const config::RunConfig& config);

/// Pipeline stage of a world rank, and its rank within the stage's own mesh (pp is the slowest
/// axis).
struct Seat {
  int64_t stage;
  int64_t stage_rank;
};
Seat seat_of(const mesh::Mesh& world_mesh, int64_t world_rank);

/// dp_replicate x dp_shard x tp: the mesh of one pipeline stage.
mesh::Mesh stage_mesh(const mesh::Mesh& world_mesh);

/// The parameters of one stage, `decayed` as optimizer.decay asks.
std::vector<sharding::ParameterFacts> parameters_of(const config::RunConfig& config,
                                                    int64_t stage,
                                                    int64_t stages);

/// Of weights, products and activations.
DType compute_dtype(const config::RunConfig& config);

zero::Options zero_options(const config::RunConfig& config, const config::RunFacts& facts);

/// fp32 numbers that the optimizer keeps for each element it updates.
int64_t states_per_element(const config::RunConfig& config);

/// How a run's schedule of stages becomes one of units.
schedule::UnitPlan unit_plan(const config::RunConfig& config, const config::RunFacts& facts);

/// The list that every rank runs in a step: of units, for all stages. And an evaluation's.
/// Errors: kUsage for a schedule that cannot be.
Result<schedule::Schedule> training_schedule(const config::RunConfig& config,
                                             const config::RunFacts& facts);
Result<schedule::Schedule> evaluation_schedule(const config::RunConfig& config,
                                               const config::RunFacts& facts);

/// What each unit of a stage keeps for its backward. Blocks alone are computed again: the embedding
/// and the head keep little beside their input.
std::vector<executor::Keep> kept_by_units(const config::RunConfig& config,
                                          const config::RunFacts& facts,
                                          int64_t stage);

/// Bytes that one rank keeps from step to step, from types alone (memory_plan.h).
struct RankBytes {
  int64_t parameters = 0;  ///< elements of the weights it holds
  int64_t weights = 0;     ///< as forward and backward use them, and masters beside them
  int64_t gradients = 0;
  int64_t optimizer_states = 0;

  int64_t total() const { return weights + gradients + optimizer_states; }
  bool operator==(const RankBytes&) const = default;
};

/// For any rank of the world, without its being there.
/// Errors: kUsage when a parameter cannot be placed.
Result<RankBytes> rank_bytes(const config::RunConfig& config,
                             const config::RunFacts& facts,
                             int64_t world_rank);

}  // namespace brigade::loop
