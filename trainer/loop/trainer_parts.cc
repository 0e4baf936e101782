// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/trainer_parts.h"

#include <span>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "trainer/data/sources.h"
#include "trainer/loop/agreement.h"

namespace brigade::loop {
namespace {

using collective::Communicator;
using collective::World;

/// The table that the key fixes; empty when it says to measure.
std::optional<tensor::MatmulTable> fixed_matmul(const config::RunConfig& config) {
  using tensor::MatmulBackend;
  if (config.training.matmul == "libtorch") {
    return tensor::MatmulTable{MatmulBackend::kLibtorch, MatmulBackend::kLibtorch};
  }
  if (config.training.matmul == "onednn" || config.debug.deterministic) {
    return tensor::MatmulTable{MatmulBackend::kOneDnn, MatmulBackend::kOneDnn};
  }
  return {};
}

/// Rank 0 measures, all hear: the same products on every rank.
Result<tensor::MatmulTable> agree_on_matmul(Communicator& world,
                                            const config::RunConfig& config,
                                            int64_t rows) {
  tensor::MatmulTable table;
  if (world.rank() == 0) {
    table = tensor::measure_matmul(rows, config.model.dim, compute_dtype(config));
  }
  collective::Work work =
      world.broadcast({collective::bytes_of(std::span<tensor::MatmulTable>(&table, 1))}, 0);
  if (Result<void> told = work.wait(); !told) {
    return fail(told.error());
  }
  return table;
}

/// Parameters of the first stage that the last one uses too, when they are not the same.
std::vector<std::string> tied_owned(const config::RunConfig& config,
                                    const Seat& seat,
                                    int64_t stages) {
  std::vector<std::string> owned;
  if (stages > 1 && seat.stage == 0) {
    for (const sharding::ParameterFacts& facts : parameters_of(config, stages - 1, stages)) {
      if (!facts.tied_to.empty()) {
        owned.push_back(facts.tied_to);
      }
    }
  }
  return owned;
}

}  // namespace

Result<TrainerParts> TrainerParts::create(World& given_world, TrainerOptions given) {
  TrainerParts parts{.options = std::move(given)};
  if (parts.options.timeline != nullptr) {
    parts.recorded =
        std::make_unique<collective::RecordedWorld>(given_world, parts.options.timeline);
  }
  World& all = parts.recorded != nullptr ? *parts.recorded : given_world;
  Result<void> built = parts.join(all)
                           .and_then([&] { return parts.build_program(all); })
                           .and_then([&] { return parts.build_model(); })
                           .and_then([&] { return parts.build_data(); })
                           .and_then([&] { return parts.build_schedule(); })
                           .and_then([&] { return parts.build_optimizer(); });
  if (!built) {
    return fail(built.error());
  }
  return parts;
}

Result<void> TrainerParts::join(World& all) {
  Result<config::RunFacts> resolved = config::resolve(config(), all.size());
  if (!resolved) {
    return fail(resolved.error());
  }
  facts = std::move(*resolved);
  world_mesh = value_or_throw(mesh::Mesh::create(facts.axes));
  seat = seat_of(world_mesh, all.rank());
  at::set_num_threads(static_cast<int>(config().launch.threads_per_rank));
  world = all.everyone("world");
  const std::vector<std::string> along_pipeline = {"pp"};
  pipeline = all.group(world_mesh.group(all.rank(), along_pipeline), "pp");

  const Result<std::vector<SharedFact>> shared = shared_facts(config(), *options.training);
  if (!shared) {
    return fail(shared.error());
  }
  return agree_on(*world, *shared);
}

Result<void> TrainerParts::build_program(World& all) {
  if (!options.matmul) {
    options.matmul = fixed_matmul(config());
  }
  if (!options.matmul) {
    Result<tensor::MatmulTable> table =
        agree_on_matmul(*world, config(), facts.microbatch_size * config().training.seq_len);
    if (!table) {
      return fail(table.error());
    }
    options.matmul = *table;
  }
  const mesh::Mesh mesh = stage_mesh(world_mesh);
  const int64_t first = seat.stage * mesh.size();
  const auto make_group = [&all, first](const std::vector<int64_t>& members,
                                        const std::string& name) {
    std::vector<int64_t> ranks;
    for (const int64_t member : members) {
      ranks.push_back(first + member);
    }
    return all.group(std::move(ranks), name);
  };
  program = std::make_unique<tensor::Program>(mesh, seat.stage_rank, make_group, *options.matmul);
  return {};
}

Result<void> TrainerParts::build_model() {
  const std::unique_ptr<const decoder::Model> model = model_of(config());
  if (Result<void> possible = model->check(facts.tp); !possible) {
    return possible;
  }
  if (Result<void> distinct = check_streams(config(), facts); !distinct) {
    return distinct;
  }
  if (Result<void> fits = data::check_vocabulary(*options.training, config().model); !fits) {
    return fits;
  }
  auto created = zero::ParameterSet::create(
      *program, parameters_of(config(), seat.stage, facts.pp), zero_options(config(), facts));
  if (!created) {
    return fail(created.error());
  }
  parameters = std::move(*created);
  parameters->initialize(static_cast<uint64_t>(config().debug.seed));
  stage = model->make_stage({.stage = seat.stage,
                             .stages = facts.pp,
                             .sequence = options.training->seq_len(),
                             .batch_axes = {"dp_replicate", "dp_shard"},
                             .sequence_parallel = config().parallelism.sequence_parallel,
                             .dtype = parameters->options().dtype,
                             .seed = static_cast<uint64_t>(config().debug.seed)},
                            *program,
                            *parameters);
  executor = std::make_unique<executor::Executor>(
      executor::Context{.program = program.get(),
                        .stage = stage.get(),
                        .parameters = parameters.get(),
                        .pipeline = pipeline.get(),
                        .world = world.get(),
                        .counts_loss = seat.stage_rank % facts.tp == 0,
                        .tied_owned = tied_owned(config(), seat, facts.pp),
                        .keep = kept_by_units(config(), facts, seat.stage),
                        .timeline = options.timeline.get()});
  return {};
}

Result<void> TrainerParts::build_data() {
  Result<data::Batcher> made = data::Batcher::create(*options.training,
                                                     {.global_batch = facts.global_batch,
                                                      .data_ranks = facts.data_ranks,
                                                      .data_rank = data_rank(),
                                                      .microbatch = facts.microbatch_size});
  if (!made) {
    return fail(made.error());
  }
  batcher = std::make_unique<data::Batcher>(std::move(*made));
  return {};
}

Result<void> TrainerParts::build_schedule() {
  Result<schedule::Schedule> steps = training_schedule(config(), facts);
  if (!steps) {
    return fail(steps.error());
  }
  Result<schedule::Schedule> evaluations = evaluation_schedule(config(), facts);
  if (!evaluations) {
    return fail(evaluations.error());
  }
  training = std::move(*steps);
  evaluation = std::move(*evaluations);
  return {};
}

Result<void> TrainerParts::build_optimizer() {
  Result<optim::LearningRateSchedule> rates = learning_rate_of(config());
  if (!rates) {
    return fail(rates.error());
  }
  learning_rate = std::move(*rates);
  optimizer = std::make_unique<ShardOptimizer>(config(), *parameters);
  return {};
}

}  // namespace brigade::loop
