// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/run_rank.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torch/version.h>

#include "parallel/base/text.h"
#include "parallel/kernels/dispatch.h"
#include "parallel/tensor/program.h"
#include "trainer/data/sources.h"
#include "trainer/loop/memory_report.h"
#include "trainer/loop/memory_table.h"
#include "trainer/loop/rank_work.h"
#include "trainer/loop/run_memory.h"
#include "trainer/loop/start_block.h"
#include "trainer/loop/trainer.h"
#include "trainer/metrics/memory.h"
#include "trainer/metrics/reporter.h"
#include "trainer/metrics/run_folder.h"

namespace brigade::loop {
namespace {

using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

metrics::Versions versions(const Trainer& trainer) {
  metrics::Versions versions = metrics::base_versions();
  versions["libtorch"] = TORCH_VERSION;
  versions["instruction_set"] = kernels::instruction_set();
  versions["matmul"] = trainer.matmul().to_string();
  return versions;
}

/// A rank's way through the steps, with its reports.
class Run final : public RankWork {
 public:
  Run(const config::RunConfig& config, const launch::RankIdentity& who, const Prepare& prepare)
      : config_(config), who_(who), prepare_(prepare) {}

  Result<void> run(collective::World& world, const data::Sources& sources) override {
    const Clock::time_point begin = Clock::now();
    sources_ = sources;
    memory_.emplace(world);
    Result<std::unique_ptr<Trainer>> trainer = Trainer::create(
        world,
        {.config = config_, .training = sources_.training, .validation = sources_.validation});
    if (!trainer) {
      return fail(trainer.error());
    }
    trainer_ = std::move(*trainer);
    memory_->hold(tensor::Category::kOptimizerStates, trainer_->optimizer_bytes());
    auto reporter = metrics::Reporter::open(
        config_,
        {.rank = who_.rank, .console = nullptr, .terminal = {}, .versions = versions(*trainer_)});
    if (!reporter) {
      return fail(reporter.error());
    }
    reporter_ = std::move(*reporter);
    reporter_->say(start_block(config_, trainer_->facts(), remarks()));
    if (prepare_) {
      prepare_(*trainer_);
    }
    begin_ = begin;
    memory_->begin_steps();
    for (int64_t step = 1; step <= config_.training.steps; ++step) {
      if (Result<void> done = one_step(step); !done) {
        return done;
      }
    }
    if (Result<void> said = say_memory(); !said) {
      return said;
    }
    reporter_->finish({.steps = config_.training.steps,
                       .tokens = tokens_,
                       .seconds = seconds_since(begin_),
                       .next_command = concat("brigade train --config=",
                                              metrics::config_path(config_.job.dump_folder),
                                              " training.steps=",
                                              2 * config_.training.steps)});
    return {};
  }

  /// With the step in which it ended the run, unless it says that itself.
  Error placed(Error error) const override {
    if (step_ > 0 && !error.text.starts_with("step ")) {
      error.text = concat("step ", step_, ", ", error.text);
    }
    return error;
  }

 private:
  std::vector<std::string> remarks() const {
    std::vector<std::string> lines = sources_.descriptions();
    lines.push_back(concat("matrix products: ",
                           trainer_->matmul().to_string(),
                           "; kernels: ",
                           kernels::instruction_set(),
                           "; ",
                           counted(config_.launch.threads_per_rank, "thread"),
                           " per rank"));
    if (who_.launched()) {
      lines.push_back("ranks told by " + who_.told_by);
    }
    const std::vector<std::string>& notes = trainer_->facts().notes;
    const std::vector<std::string>& warnings = trainer_->warnings();
    lines.insert(lines.end(), notes.begin(), notes.end());
    lines.insert(lines.end(), warnings.begin(), warnings.end());
    return lines;
  }

  Result<void> one_step(int64_t step) {
    step_ = step;
    const Clock::time_point begin = Clock::now();
    const Result<StepReport> report = trainer_->step();
    if (!report) {
      return fail(report.error());
    }
    const double elapsed = seconds_since(begin);
    const Result<std::vector<int64_t>> memory =
        trainer_->largest({metrics::resident_bytes(), memory_->end_step()});
    if (!memory) {
      return fail(memory.error());
    }
    tokens_ += report->trained_tokens;
    if (step == config_.training.steps) {
      moved_ = trainer_->program().ledger();  // before a validation writes there
    }
    if (report->skipped) {
      reporter_->say(concat("step ", step, " skipped: ", report->first_bad));
    }
    reporter_->step({.step = step,
                     .loss = report->loss,
                     .grad_norm = report->gradient_norm,
                     .lr = report->learning_rate,
                     .tokens_per_s = static_cast<double>(report->trained_tokens) / elapsed,
                     .step_ms = elapsed * 1e3,
                     .memory_bytes = memory->at(0),
                     .tensor_bytes = memory->at(1),
                     .time = seconds_since(begin_),
                     .skipped = report->skipped});
    if (step == 1) {
      trainer_->set_timeout(seconds(config_.comm.train_timeout_seconds));
    }
    const bool due = step % config_.validation.freq == 0 || step == config_.training.steps;
    return sources_.validation != nullptr && due ? validate(step) : Result<void>();
  }

  Result<void> say_memory() {
    const Result<std::vector<MeasuredMemory>> measured = memory_->gather();
    if (!measured) {
      return fail(measured.error());
    }
    const config::RunFacts& facts = trainer_->facts();
    const tensor::Program& program = trainer_->program();
    reporter_->say(measured_table(value_or_throw(planned_memory(config_, facts)), *measured) +
                   moved_table(moved_, program.mesh(), who_.rank / program.mesh().size()));
    return {};
  }

  Result<void> validate(int64_t step) {
    const Result<ValidationReport> report = trainer_->validate();
    if (!report) {
      return fail(report.error());
    }
    reporter_->validation({.step = step, .loss = report->loss, .time = seconds_since(begin_)});
    return {};
  }

  const config::RunConfig& config_;
  const launch::RankIdentity& who_;
  const Prepare& prepare_;
  data::Sources sources_;
  std::optional<MemoryReport> memory_;  // outlives what it counts
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<metrics::Reporter> reporter_;
  Clock::time_point begin_;
  tensor::Ledger moved_;  // of the last step
  int64_t tokens_ = 0;
  int64_t step_ = 0;  // that runs; 0 before the first
};

}  // namespace

Result<launch::RunEnd> run_rank(const config::RunConfig& config,
                                const launch::RankIdentity& who,
                                const Prepare& prepare) {
  return launch::finished(with_world(config, who, std::make_unique<Run>(config, who, prepare)));
}

}  // namespace brigade::loop
