// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/trainer.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "parallel/tensor/ledger_agreement.h"
#include "trainer/loop/batches.h"
#include "trainer/loop/run_state.h"
#include "trainer/loop/trainer_parts.h"

namespace brigade::loop {

struct Trainer::Impl {
  TrainerParts parts;
  checkpoint::Counters counters = {};
  uint64_t last_ledger = 0;  // hash of the step before

  Result<executor::Batch> read_batch(int64_t step) const;
  Result<void> check_ledger();
  Result<StepReport> after_step(const executor::StepResult& result, StepReport report);
};

Trainer::Trainer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Trainer::~Trainer() = default;

Result<std::unique_ptr<Trainer>> Trainer::create(collective::World& world, TrainerOptions options) {
  BRIGADE_CHECK(options.training != nullptr);
  Result<TrainerParts> parts = TrainerParts::create(world, std::move(options));
  if (!parts) {
    return fail(parts.error());
  }
  return std::unique_ptr<Trainer>(new Trainer(std::make_unique<Impl>(Impl{std::move(*parts)})));
}

Result<StepReport> Trainer::step() {
  Impl& impl = *impl_;
  TrainerParts& parts = impl.parts;
  StepReport report;
  report.step = impl.counters.step + 1;
  Timeline* const timeline = parts.options.timeline.get();
  const TimelineScope whole(timeline, Activity::kStep, {.step = static_cast<int32_t>(report.step)});
  report.learning_rate = parts.learning_rate->at(report.step);
  parts.program->ledger().clear();  // it holds one step
  const Result<executor::Batch> batch = impl.read_batch(report.step);
  if (!batch) {
    return fail(batch.error());
  }
  report.trained_tokens = batch->trained_tokens;
  const Result<executor::StepResult> result =
      parts.executor->run_step(parts.actions_of(parts.training),
                               *batch,
                               [&](const executor::StepResult& step) -> Result<void> {
                                 parts.optimizer->update(report.learning_rate, step.gradient_norm);
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

Result<executor::Batch> Trainer::Impl::read_batch(int64_t step) const {
  const TimelineScope loading(parts.options.timeline.get(), Activity::kLoading);
  const Result<data::StepBatch> read = parts.batcher->read(counters.samples);
  return read ? Result<executor::Batch>(to_tensors(*read, parts.facts.microbatch_size, step))
              : fail(read.error());
}

// Ledgers are compared between ranks after the first step, and again when one changed anywhere.
Result<void> Trainer::Impl::check_ledger() {
  const uint64_t hash = parts.program->ledger().hash();
  std::array<int64_t, 1> changed = {hash == last_ledger ? 0 : 1};
  last_ledger = hash;
  Result<void> told = parts.world
                          ->all_reduce({collective::bytes_of(std::span<int64_t>(changed))},
                                       DType::kInt64,
                                       collective::ReduceOp::kMax)
                          .wait();
  if (!told || changed[0] == 0) {
    return told;
  }
  return tensor::agree_on_ledgers(*parts.program);
}

Result<StepReport> Trainer::Impl::after_step(const executor::StepResult& result,
                                             StepReport report) {
  report.loss = result.loss;
  report.gradient_norm = result.gradient_norm;
  counters.step += 1;
  counters.samples += parts.facts.global_batch;
  counters.updates = parts.optimizer->updates();
  if (result.finite) {
    counters.tokens += report.trained_tokens;
    counters.skips_in_a_row = 0;
    return report;
  }
  const std::string what = concat("step ", report.step, ": not finite: ", result.first_bad);
  if (parts.config().training.on_nonfinite == "stop") {
    return fail(ErrorCode::kNonFinite,
                what +
                    "; nothing was updated. training.on_nonfinite=\"skip\" would leave the step "
                    "out and go on");
  }
  report.skipped = true;
  report.first_bad = result.first_bad;
  counters.skips_in_a_row += 1;
  if (counters.skips_in_a_row > parts.config().training.max_consecutive_skips) {
    return fail(ErrorCode::kNonFinite,
                concat(what,
                       "; ",
                       counters.skips_in_a_row,
                       " steps in a row were skipped, training.max_consecutive_skips = ",
                       parts.config().training.max_consecutive_skips));
  }
  return report;
}

Result<ValidationReport> Trainer::validate() {
  TrainerParts& parts = impl_->parts;
  BRIGADE_CHECK(parts.options.validation != nullptr);
  const data::TokenSource& source = *parts.options.validation;
  const int64_t batches =
      (source.sample_count() + parts.facts.global_batch - 1) / parts.facts.global_batch;
  const int64_t wanted = parts.config().validation.steps;
  const int64_t run = wanted < 0 ? batches : std::min(batches, wanted);
  ValidationReport report;
  double total = 0.0;
  for (int64_t index = 0; index < run; ++index) {
    const Result<executor::Batch> batch = validation_batch(source,
                                                           index,
                                                           {parts.facts.global_batch,
                                                            parts.facts.data_ranks,
                                                            parts.data_rank(),
                                                            parts.facts.microbatch_size});
    if (!batch) {
      return fail(batch.error());
    }
    if (batch->trained_tokens == 0) {
      continue;  // nothing to measure, on any rank
    }
    const Result<double> loss =
        parts.executor->evaluate(parts.actions_of(parts.evaluation), *batch);
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
      impl_->parts.world->all_reduce({collective::bytes_of(std::span<int64_t>(values))},
                                     DType::kInt64,
                                     collective::ReduceOp::kMax);
  if (Result<void> told = work.wait(); !told) {
    return fail(told.error());
  }
  return values;
}

void Trainer::set_timeout(std::chrono::milliseconds timeout) {
  impl_->parts.world->set_timeout(timeout);
  impl_->parts.pipeline->set_timeout(timeout);
  impl_->parts.program->set_timeout(timeout);
}

const std::vector<std::string>& Trainer::warnings() const {
  return impl_->parts.learning_rate->warnings();
}

const config::RunFacts& Trainer::facts() const {
  return impl_->parts.facts;
}
const tensor::MatmulTable& Trainer::matmul() const {
  return *impl_->parts.options.matmul;
}
const checkpoint::Counters& Trainer::counters() const {
  return impl_->counters;
}
void Trainer::set_counters(const checkpoint::Counters& counters) {
  impl_->counters = counters;
  impl_->parts.optimizer->set_updates(counters.updates);
}
std::vector<checkpoint::StateBox> Trainer::boxes_to_write(bool model_only) {
  return loop::boxes_to_write(*impl_->parts.parameters,
                              impl_->parts.optimizer->states(),
                              *impl_->parts.program,
                              model_only);
}
Result<void> Trainer::load(checkpoint::TensorSource& source, bool states) {
  Result<void> loaded = load_weights(*impl_->parts.parameters, source);
  if (loaded && states) {
    loaded = load_states(*impl_->parts.parameters, impl_->parts.optimizer->states(), source);
  }
  return loaded;
}
zero::ParameterSet& Trainer::parameters() {
  return *impl_->parts.parameters;
}
int64_t Trainer::optimizer_bytes() {
  int64_t bytes = 0;
  for (const optim::Optimizer::State& state : impl_->parts.optimizer->states().state()) {
    bytes += static_cast<int64_t>(state.values.size_bytes());
  }
  return bytes;
}
tensor::Program& Trainer::program() {
  return *impl_->parts.program;
}
void Trainer::set_observer(executor::Observer observer) {
  impl_->parts.executor->set_observer(std::move(observer));
}

}  // namespace brigade::loop
