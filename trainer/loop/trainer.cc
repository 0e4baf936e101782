// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/trainer.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/schedule/schedule.h"
#include "parallel/tensor/ledger_agreement.h"
#include "parallel/tensor/program.h"
#include "trainer/data/batcher.h"
#include "trainer/data/sources.h"
#include "trainer/loop/agreement.h"
#include "trainer/loop/batches.h"
#include "trainer/loop/model_shape.h"
#include "trainer/loop/update.h"
#include "trainer/optim/learning_rate.h"

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
    table = tensor::measure_matmul(rows, config.model.dim);
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

// In order of construction: what comes later borrows from what comes before.
struct Trainer::Impl {
  TrainerOptions options;
  config::RunFacts facts;
  mesh::Mesh world_mesh;
  Seat seat{};
  std::unique_ptr<Communicator> world;
  std::unique_ptr<Communicator> pipeline;
  std::unique_ptr<tensor::Program> program;
  std::unique_ptr<zero::ParameterSet> parameters;
  std::unique_ptr<executor::Stage> stage;
  std::unique_ptr<executor::Executor> executor;
  std::unique_ptr<data::Batcher> batcher;
  std::optional<optim::LearningRateSchedule> learning_rate;
  std::unique_ptr<ShardOptimizer> optimizer;
  schedule::Schedule training;    // of units
  schedule::Schedule evaluation;  // its forwards alone
  int64_t steps_done = 0;
  int64_t samples_consumed = 0;
  int64_t skips_in_a_row = 0;
  uint64_t last_ledger = 0;  // hash of the step before

  const config::RunConfig& config() const { return options.config; }
  int64_t data_rank() const { return seat.stage_rank / facts.tp; }
  const std::vector<schedule::Action>& actions_of(const schedule::Schedule& schedule) const {
    return schedule.per_rank[static_cast<size_t>(seat.stage)];
  }

  Result<void> join(World& all);
  Result<void> build_program(World& all);
  Result<void> build_model();
  Result<void> build_data();
  Result<void> build_schedule();
  Result<void> build_optimizer();
  Result<void> check_ledger();
  Result<StepReport> after_step(const executor::StepResult& result, StepReport report);
};

Result<void> Trainer::Impl::join(World& all) {
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
  if (Result<void> agreed = agree_on(*world, *shared); !agreed) {
    return agreed;
  }
  return build_program(all);
}

Result<void> Trainer::Impl::build_program(World& all) {
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

Result<void> Trainer::Impl::build_model() {
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
                        .keep = kept_by_units(config(), facts, seat.stage)});
  return {};
}

Result<void> Trainer::Impl::build_data() {
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

Result<void> Trainer::Impl::build_schedule() {
  Result<schedule::Kind> kind =
      facts.pp > 1 ? schedule::parse_kind(config().parallelism.pipeline_parallel_schedule)
                   : Result<schedule::Kind>(schedule::Kind::kOneForwardOneBackward);
  if (!kind) {
    return fail(kind.error());
  }
  Result<schedule::Schedule> generated =
      schedule::generate({.kind = *kind, .ranks = facts.pp, .microbatches = facts.microbatches});
  if (!generated) {
    return fail(generated.error());
  }
  const schedule::UnitPlan plan = unit_plan(config(), facts);
  training = schedule::lower_units(*generated, plan);
  evaluation = schedule::lower_units(schedule::forwards_of(*generated), plan);
  return schedule::validate_units(training, plan);
}

Result<void> Trainer::Impl::build_optimizer() {
  Result<optim::LearningRateSchedule> rates = learning_rate_of(config());
  if (!rates) {
    return fail(rates.error());
  }
  learning_rate = std::move(*rates);
  optimizer = std::make_unique<ShardOptimizer>(config(), *parameters);
  return {};
}

Trainer::Trainer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Trainer::~Trainer() = default;

Result<std::unique_ptr<Trainer>> Trainer::create(World& world, TrainerOptions options) {
  auto impl = std::make_unique<Impl>();
  impl->options = std::move(options);
  BRIGADE_CHECK(impl->options.training != nullptr);
  Result<void> built = impl->join(world)
                           .and_then([&] { return impl->build_model(); })
                           .and_then([&] { return impl->build_data(); })
                           .and_then([&] { return impl->build_schedule(); })
                           .and_then([&] { return impl->build_optimizer(); });
  if (!built) {
    return fail(built.error());
  }
  return std::unique_ptr<Trainer>(new Trainer(std::move(impl)));
}

Result<StepReport> Trainer::step() {
  Impl& impl = *impl_;
  StepReport report;
  report.step = impl.steps_done + 1;
  report.learning_rate = impl.learning_rate->at(report.step);
  impl.program->ledger().clear();  // it holds one step
  const Result<data::StepBatch> read = impl.batcher->read(impl.samples_consumed);
  if (!read) {
    return fail(read.error());
  }
  report.trained_tokens = read->trained_tokens;
  const executor::Batch batch = to_tensors(*read, impl.facts.microbatch_size, report.step);
  const Result<executor::StepResult> result = impl.executor->run_step(
      impl.actions_of(impl.training), batch, [&](const executor::StepResult& step) -> Result<void> {
        impl.optimizer->update(report.learning_rate, step.gradient_norm);
        return {};
      });
  if (!result) {
    return fail(result.error());
  }
  if (Result<void> equal = impl.check_ledger(); !equal) {
    return fail(equal.error());
  }
  return impl.after_step(*result, std::move(report));
}

// Ledgers are compared between ranks after the first step, and again when one changed anywhere.
Result<void> Trainer::Impl::check_ledger() {
  const uint64_t hash = program->ledger().hash();
  std::array<int64_t, 1> changed = {hash == last_ledger ? 0 : 1};
  last_ledger = hash;
  Result<void> told = world
                          ->all_reduce({collective::bytes_of(std::span<int64_t>(changed))},
                                       DType::kInt64,
                                       collective::ReduceOp::kMax)
                          .wait();
  if (!told || changed[0] == 0) {
    return told;
  }
  return tensor::agree_on_ledgers(*program);
}

Result<StepReport> Trainer::Impl::after_step(const executor::StepResult& result,
                                             StepReport report) {
  report.loss = result.loss;
  report.gradient_norm = result.gradient_norm;
  steps_done += 1;
  samples_consumed += facts.global_batch;
  if (result.finite) {
    skips_in_a_row = 0;
    return report;
  }
  const std::string what = concat("step ", report.step, ": not finite: ", result.first_bad);
  if (config().training.on_nonfinite == "stop") {
    return fail(ErrorCode::kNonFinite,
                what +
                    "; nothing was updated. training.on_nonfinite=\"skip\" would leave the step "
                    "out and go on");
  }
  report.skipped = true;
  report.first_bad = result.first_bad;
  skips_in_a_row += 1;
  if (skips_in_a_row > config().training.max_consecutive_skips) {
    return fail(ErrorCode::kNonFinite,
                concat(what,
                       "; ",
                       skips_in_a_row,
                       " steps in a row were skipped, training.max_consecutive_skips = ",
                       config().training.max_consecutive_skips));
  }
  return report;
}

Result<ValidationReport> Trainer::validate() {
  Impl& impl = *impl_;
  BRIGADE_CHECK(impl.options.validation != nullptr);
  const data::TokenSource& source = *impl.options.validation;
  const int64_t batches =
      (source.sample_count() + impl.facts.global_batch - 1) / impl.facts.global_batch;
  const int64_t wanted = impl.config().validation.steps;
  const int64_t run = wanted < 0 ? batches : std::min(batches, wanted);
  ValidationReport report;
  double total = 0.0;
  for (int64_t index = 0; index < run; ++index) {
    const Result<executor::Batch> batch = validation_batch(source,
                                                           index,
                                                           {impl.facts.global_batch,
                                                            impl.facts.data_ranks,
                                                            impl.data_rank(),
                                                            impl.facts.microbatch_size});
    if (!batch) {
      return fail(batch.error());
    }
    if (batch->trained_tokens == 0) {
      continue;  // nothing to measure, on any rank
    }
    const Result<double> loss = impl.executor->evaluate(impl.actions_of(impl.evaluation), *batch);
    if (!loss) {
      return fail(loss.error());
    }
    total += *loss * static_cast<double>(batch->trained_tokens);
    report.trained_tokens += batch->trained_tokens;
  }
  if (report.trained_tokens == 0) {
    return fail(ErrorCode::kData,
                concat("no target of the validation data is trained: ", source.description()));
  }
  report.loss = total / static_cast<double>(report.trained_tokens);
  return report;
}

Result<std::vector<int64_t>> Trainer::largest(std::vector<int64_t> values) {
  collective::Work work =
      impl_->world->all_reduce({collective::bytes_of(std::span<int64_t>(values))},
                               DType::kInt64,
                               collective::ReduceOp::kMax);
  if (Result<void> told = work.wait(); !told) {
    return fail(told.error());
  }
  return values;
}

void Trainer::set_timeout(std::chrono::milliseconds timeout) {
  impl_->world->set_timeout(timeout);
  impl_->pipeline->set_timeout(timeout);
  impl_->program->set_timeout(timeout);
}

const std::vector<std::string>& Trainer::warnings() const {
  return impl_->learning_rate->warnings();
}

const config::RunFacts& Trainer::facts() const {
  return impl_->facts;
}
const tensor::MatmulTable& Trainer::matmul() const {
  return *impl_->options.matmul;
}
int64_t Trainer::samples_consumed() const {
  return impl_->samples_consumed;
}
zero::ParameterSet& Trainer::parameters() {
  return *impl_->parameters;
}
int64_t Trainer::optimizer_bytes() {
  int64_t bytes = 0;
  for (const optim::Optimizer::State& state : impl_->optimizer->states().state()) {
    bytes += static_cast<int64_t>(state.values.size_bytes());
  }
  return bytes;
}
tensor::Program& Trainer::program() {
  return *impl_->program;
}
void Trainer::set_observer(executor::Observer observer) {
  impl_->executor->set_observer(std::move(observer));
}

}  // namespace brigade::loop
