// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/step_ledger.h"

#include <memory>
#include <thread>
#include <utility>

#include "parallel/collective/world.h"
#include "parallel/tensor/program.h"
#include "trainer/config/resolve.h"
#include "trainer/data/sources.h"
#include "trainer/loop/model_shape.h"
#include "trainer/loop/trainer.h"

namespace brigade::explain {
namespace {

Result<tensor::Ledger> run_step(collective::World& world,
                                const config::RunConfig& config,
                                const data::Sources& sources) {
  auto trainer = loop::Trainer::create(
      world, {.config = config, .training = sources.training, .validation = nullptr});
  if (!trainer) {
    return fail(trainer.error());
  }
  if (const Result<loop::StepReport> report = (*trainer)->step(); !report) {
    return fail(report.error());
  }
  return (*trainer)->program().ledger();
}

/// One rank on its thread: what it throws ends the world for all.
Result<tensor::Ledger> be_a_rank(collective::World& world,
                                 const config::RunConfig& config,
                                 const data::Sources& sources) {
  Result<tensor::Ledger> ledger;
  try {
    ledger = run_step(world, config, sources);
  } catch (const Exception& exception) {
    ledger = fail(exception.error());
  } catch (const std::exception& exception) {
    ledger = fail(ErrorCode::kInternal, exception.what());
  }
  if (ledger) {
    world.close();
    return ledger;
  }
  world.abort(ledger.error());
  return fail(world.failure().value_or(ledger.error()));
}

Result<std::vector<tensor::Ledger>> run_ranks(const config::RunConfig& config,
                                              int64_t ranks,
                                              const data::Sources& sources) {
  const std::chrono::seconds timeout(config.comm.init_timeout_seconds);
  const auto worlds = collective::in_process_worlds(ranks, timeout);
  std::vector<Result<tensor::Ledger>> results(worlds.size());
  std::vector<std::jthread> threads;
  for (size_t rank = 0; rank < worlds.size(); ++rank) {
    threads.emplace_back([&, rank] { results[rank] = be_a_rank(*worlds[rank], config, sources); });
  }
  threads.clear();  // joins
  std::vector<tensor::Ledger> ledgers;
  for (Result<tensor::Ledger>& result : results) {
    if (!result) {
      return fail(result.error());
    }
    ledgers.push_back(std::move(*result));
  }
  return ledgers;
}

}  // namespace

Result<StepLedgers> step_ledgers(config::RunConfig config) {
  config.training.dataset = "synthetic";
  config.training.dataset_path.reset();
  config.validation.enable = false;
  const int64_t ranks = config::wanted_ranks(config);
  const Result<config::RunFacts> facts = config::resolve(config, ranks);
  if (!facts) {
    return fail(facts.error());
  }
  const Result<data::Sources> sources = data::open_sources(config);
  if (!sources) {
    return fail(sources.error());
  }
  const Result<std::vector<tensor::Ledger>> ledgers = run_ranks(config, ranks, *sources);
  if (!ledgers) {
    return fail(ledgers.error());
  }
  StepLedgers result;
  result.world = value_or_throw(mesh::Mesh::create(facts->axes));
  result.stage_mesh = loop::stage_mesh(result.world);
  const int64_t per_stage = result.stage_mesh.size();
  for (int64_t stage = 0; stage < facts->pp; ++stage) {
    const int64_t first = stage * per_stage;
    result.stages.push_back(
        {stage, first, first + per_stage - 1, (*ledgers)[static_cast<size_t>(first)]});
  }
  return result;
}

}  // namespace brigade::explain
