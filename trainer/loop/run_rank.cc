// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/run_rank.h"

#include <algorithm>
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
#include "trainer/launch/stop_signals.h"
#include "trainer/loop/checkpoints.h"
#include "trainer/loop/memory_report.h"
#include "trainer/loop/memory_table.h"
#include "trainer/loop/profiler.h"
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

/// Among the numbers of signals: the wish of the file.
constexpr int64_t kStopFile = 1000;

/// A rank's way through the steps, with its reports.
class Run final : public RankWork {
 public:
  /// `end` outlives it and is set when the run has ended well.
  Run(const config::RunConfig& config,
      const launch::RankIdentity& who,
      const Prepare& prepare,
      launch::RunEnd& end)
      : config_(config), who_(who), prepare_(prepare), end_(end) {}

  Result<void> run(collective::World& world, const data::Sources& sources) override {
    begin_ = Clock::now();
    sources_ = sources;
    memory_.emplace(world);
    profiler_.emplace(config_, world, timeline_);
    Result<void> ready = build(world).and_then([this] { return open_reporter(); });
    if (!ready) {
      return ready;
    }
    reporter_->say(start_block(config_, trainer_->facts(), remarks()));
    if (prepare_) {
      prepare_(*trainer_);
    }
    memory_->begin_steps();
    return run_steps().and_then([this] { return conclude(); });
  }

  /// With the step in which it ended the run, unless it says that itself.
  Error placed(Error error) const override {
    if (step_ > 0 && !error.text.starts_with("step ")) {
      error.text = concat("step ", step_, ", ", error.text);
    }
    return error;
  }

 private:
  Result<void> build(collective::World& world) {
    auto checkpoints = Checkpoints::open(world, config_, *sources_.training);
    if (!checkpoints) {
      return fail(checkpoints.error());
    }
    checkpoints_ = std::move(*checkpoints);
    const bool measures = config_.training.matmul == "auto" && !config_.debug.deterministic;
    Result<std::unique_ptr<Trainer>> trainer =
        Trainer::create(world,
                        {.config = config_,
                         .training = sources_.training,
                         .validation = sources_.validation,
                         .matmul = measures ? checkpoints_->matmul() : std::nullopt,
                         .timeline = timeline_});
    if (!trainer) {
      return fail(trainer.error());
    }
    trainer_ = std::move(*trainer);
    memory_->hold(tensor::Category::kOptimizerStates, trainer_->optimizer_bytes());
    if (checkpoints_->saves()) {
      stop_.emplace();
    }
    return checkpoints_->load(*trainer_, versions(*trainer_));
  }

  Result<void> open_reporter() {
    auto reporter = metrics::Reporter::open(config_,
                                            {.rank = who_.rank,
                                             .console = nullptr,
                                             .terminal = {},
                                             .versions = versions(*trainer_),
                                             .resumed_step = checkpoints_->first_step()});
    if (!reporter) {
      return fail(reporter.error());
    }
    reporter_ = std::move(*reporter);
    return {};
  }

  Result<void> run_steps() {
    if (config_.checkpoint.create_seed_checkpoint) {
      return say(checkpoints_->save_seed());
    }
    for (int64_t step = trainer_->counters().step + 1;
         step <= config_.training.steps && stopped_by_.empty();
         ++step) {
      if (Result<void> done = one_step(step); !done) {
        return done;
      }
    }
    return {};
  }

  Result<void> conclude() {
    if (Result<void> said = say(checkpoints_->finish()); !said) {
      return said;
    }
    if (step_ == 0) {
      reporter_->say(concat("nothing to train: ",
                            counted(trainer_->counters().step, "step"),
                            " of training.steps = ",
                            config_.training.steps,
                            " are done"));
      return {};
    }
    if (Result<void> said = say_memory(); !said) {
      return said;
    }
    reporter_->finish({.steps = trainer_->counters().step,
                       .tokens = tokens_,
                       .seconds = seconds_since(begin_),
                       .next_command = next_command(),
                       .stopped_early = step_ < config_.training.steps,
                       .checkpoint = checkpoints_->last_path()});
    if (step_ < config_.training.steps) {
      end_ = launch::RunEnd::kStoppedEarly;
    }
    return stopped_by_file_ && who_.rank == 0 ? metrics::take_stop_file(config_.job.dump_folder)
                                              : Result<void>();
  }

  std::string next_command() const {
    const std::string command =
        concat("brigade train --config=", metrics::config_path(config_.job.dump_folder));
    return stopped_by_.empty() ? concat(command, " training.steps=", 2 * config_.training.steps)
                               : command;
  }

  Result<void> say(const Result<std::vector<std::string>>& lines) {
    if (!lines) {
      return fail(lines.error());
    }
    for (const std::string& line : *lines) {
      reporter_->say(line);
    }
    return {};
  }

  std::vector<std::string> remarks() {
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
    for (std::string& line : checkpoints_->remarks()) {
      lines.push_back(std::move(line));
    }
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
    const Result<std::vector<int64_t>> told =
        trainer_->largest({metrics::resident_bytes(), memory_->end_step(), stop_wish()});
    if (!told) {
      return fail(told.error());
    }
    take_wish(told->at(2));
    tokens_ += report->trained_tokens;
    const bool ends = step == config_.training.steps || !stopped_by_.empty();
    if (ends) {
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
                     .memory_bytes = told->at(0),
                     .tensor_bytes = told->at(1),
                     .time = seconds_since(begin_),
                     .skipped = report->skipped});
    if (step == checkpoints_->first_step() + 1) {
      trainer_->set_timeout(seconds(config_.comm.train_timeout_seconds));
    }
    if (Result<void> said = say_profile(step); !said) {
      return said;
    }
    if (Result<void> said = say(checkpoints_->after_step(ends)); !said) {
      return said;
    }
    const bool due = step % config_.validation.freq == 0 || step == config_.training.steps;
    return sources_.validation != nullptr && due && stopped_by_.empty() ? validate(step)
                                                                        : Result<void>();
  }

  /// The number of a signal that came, kStopFile, or 0. The ranks follow the largest of theirs.
  int64_t stop_wish() const {
    if (!stop_) {
      return 0;
    }
    const bool has_file = who_.rank == 0 && metrics::stop_file_is_there(config_.job.dump_folder);
    return std::max<int64_t>(stop_->requested(), has_file ? kStopFile : 0);
  }

  void take_wish(int64_t wish) {
    if (wish == 0) {
      return;
    }
    stopped_by_file_ = wish == kStopFile;
    stopped_by_ = stopped_by_file_
                      ? concat("the file ", metrics::stop_file_path(config_.job.dump_folder))
                      : launch::signal_name(static_cast<int>(wish));
    stop_->stay();
    reporter_->say(concat("stopping after step ", step_, ", as ", stopped_by_, " asks"));
  }

  Result<void> say_profile(int64_t step) {
    return profiler_->is_due(step) ? say(profiler_->write(step, *trainer_)) : Result<void>();
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
  launch::RunEnd& end_;
  data::Sources sources_;
  std::optional<MemoryReport> memory_;  // outlives what it counts
  const std::shared_ptr<Timeline> timeline_ = std::make_shared<Timeline>();
  std::optional<Profiler> profiler_;
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<Checkpoints> checkpoints_;
  std::optional<launch::StopSignals> stop_;  // where a run that stops can be gone on with
  std::string stopped_by_;                   // nothing: by its last step
  bool stopped_by_file_ = false;
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
  auto end = launch::RunEnd::kFinished;
  const Result<void> done =
      with_world(config, who, std::make_unique<Run>(config, who, prepare, end));
  return done ? Result<launch::RunEnd>(end) : fail(done.error());
}

}  // namespace brigade::loop
