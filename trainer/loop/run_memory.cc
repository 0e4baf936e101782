// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/run_memory.h"

#include <algorithm>
#include <string>

#include "models/decoder/activation_bytes.h"
#include "models/decoder/units.h"
#include "parallel/base/dtype.h"
#include "parallel/collective/buffer_plan.h"
#include "trainer/loop/model_shape.h"

namespace brigade::loop {
namespace {

using decoder::UnitActivations;
using tensor::Category;

decoder::ActivationShape shape_of(const config::RunConfig& config,
                                  const config::RunFacts& facts,
                                  int64_t world_rank) {
  return {.batch = facts.microbatch_size,
          .sequence = config.training.seq_len,
          .tensor_ranks = facts.tp,
          .tensor_rank = world_rank % facts.tp,
          .sequence_parallel = config.parallelism.sequence_parallel,
          .dtype = zero_options(config, facts).dtype};
}

decoder::ModelActivations activations_of(const config::RunConfig& config,
                                         const config::RunFacts& facts,
                                         int64_t world_rank) {
  return model_of(config)->activations(shape_of(config, facts, world_rank));
}

UnitPlan plan_of(const UnitActivations& bytes, executor::Keep keep) {
  switch (keep) {
    case executor::Keep::kInput: return {bytes.input, bytes.saved, bytes.working};
    case executor::Keep::kProducts:
      return {bytes.input + bytes.products, bytes.saved, bytes.working};
    case executor::Keep::kAll: break;
  }
  return {bytes.saved, bytes.saved, bytes.working};
}

int64_t in_flight(const config::RunConfig& config, const config::RunFacts& facts, int64_t stage) {
  const bool all_first = config.parallelism.pipeline_parallel_schedule == "GPipe" && facts.pp > 1;
  return all_first ? facts.microbatches : std::min(facts.microbatches, facts.pp - stage);
}

/// Messages between stages: the next two are received early, and as many may wait to be sent.
int64_t between_stages(const config::RunFacts& facts, int64_t stream) {
  return facts.pp > 1 ? 2 * stream : 0;
}

int64_t message_bytes(const config::RunConfig& config,
                      const config::RunFacts& facts,
                      const std::vector<UnitElements>& units,
                      int64_t stream) {
  const int64_t wire = size_of(zero_options(config, facts).wire);
  const int64_t terms = largest_neighbours(units, &UnitElements::used, 1) * wire;
  const int64_t copies = facts.dp_replicate * (config.parallelism.sequence_parallel ? facts.tp : 1);
  const auto share = [](int64_t bytes, int64_t ranks) { return (bytes + ranks - 1) / ranks; };
  const int64_t at_once =
      collective::reduction_buffers(share(terms, facts.dp_shard), facts.dp_shard) +
      collective::reduction_buffers(share(terms, copies), copies) +
      collective::reduction_buffers(share(stream, facts.tp), facts.tp);
  // Numbers that all ranks agree on are few, and a sum of them needs a block for each rank.
  const int64_t agreement = collective::reduction_buffers(0, facts.world_size);
  return (facts.world_size - 1) * collective::kConnectionBuffers + std::max(at_once, agreement) +
         between_stages(facts, stream);  // copies of what the neighbours have not asked for yet
}

}  // namespace

StatePlan state_plan(const config::RunConfig& config, const config::RunFacts& facts) {
  const schedule::UnitPlan units = unit_plan(config, facts);
  return {.zero = zero_options(config, facts),
          .states_per_element = states_per_element(config),
          .microbatches = facts.microbatches,
          .reduces_each_microbatch = facts.reduces_each_microbatch,
          .whole_units = units.weights == schedule::Weights::kWholeStep ? 0 : 1 + units.prefetch};
}

ActivationPlan activation_plan(const config::RunConfig& config,
                               const config::RunFacts& facts,
                               int64_t world_rank) {
  const int64_t stage = seat_of(value_or_throw(mesh::Mesh::create(facts.axes)), world_rank).stage;
  const decoder::ModelActivations bytes = activations_of(config, facts, world_rank);
  const std::vector<executor::Keep> keep = kept_by_units(config, facts, stage);
  const std::vector<std::string> names =
      decoder::unit_names(model_of(config)->layers(), stage, facts.pp);
  ActivationPlan plan{.units = {}, .in_flight = in_flight(config, facts, stage), .held = 0};
  for (size_t i = 0; i < names.size(); ++i) {
    const UnitActivations& unit = names[i] == decoder::kEmbeddingUnit ? bytes.embedding
                                  : names[i] == decoder::kHeadUnit    ? bytes.head
                                                                      : bytes.block;
    plan.units.push_back(plan_of(unit, keep[i]));
  }
  if (stage + 1 < facts.pp && keep.back() == executor::Keep::kAll) {
    plan.units.back().kept += bytes.stream;  // what it sent on
    plan.units.back().saved += bytes.stream;
  }
  const int64_t ids = 2 * facts.microbatches * facts.microbatch_size * config.training.seq_len *
                      size_of(DType::kInt64);
  plan.held = ids + bytes.resident + between_stages(facts, bytes.stream);
  return plan;
}

Result<std::vector<tensor::CategoryBytes>> planned_memory(const config::RunConfig& config,
                                                          const config::RunFacts& facts) {
  const mesh::Mesh world_mesh = value_or_throw(mesh::Mesh::create(facts.axes));
  const StatePlan plan = state_plan(config, facts);
  std::vector<tensor::CategoryBytes> ranks;
  for (int64_t rank = 0; rank < facts.world_size; ++rank) {
    const Seat seat = seat_of(world_mesh, rank);
    const Result<std::vector<UnitElements>> units =
        unit_elements(stage_mesh(world_mesh),
                      seat.stage_rank,
                      parameters_of(config, seat.stage, facts.pp),
                      plan.zero);
    if (!units) {
      return fail(units.error());
    }
    tensor::CategoryBytes bytes = plan_states(*units, plan);
    bytes[Category::kActivations] = plan_activations(activation_plan(config, facts, rank));
    bytes[Category::kCommunication] =
        message_bytes(config, facts, *units, activations_of(config, facts, rank).stream);
    ranks.push_back(bytes);
  }
  return ranks;
}

}  // namespace brigade::loop
