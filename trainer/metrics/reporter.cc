// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/reporter.h"

#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <unistd.h>

#include "parallel/base/text.h"
#include "trainer/metrics/earlier_records.h"
#include "trainer/metrics/lines.h"

namespace brigade::metrics {
namespace {

/// Rank 0's log holds this run alone, or all of it when it goes on. The launcher, whose file the
/// others' logs are, decides the same for them.
LineFile::Begin log_begin(const ReporterOptions& options) {
  return options.rank == 0 && options.resumed_step == 0 ? LineFile::Begin::kEmpty
                                                        : LineFile::Begin::kAppend;
}

std::string loss_text(double loss) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(5) << loss;
  return out.str();
}

}  // namespace

Result<std::unique_ptr<Reporter>> Reporter::open(const config::RunConfig& config,
                                                 ReporterOptions options) {
  const Result<void> made = make_run_folder(config.job.dump_folder);
  if (!made) {
    return fail(made.error());
  }
  return std::unique_ptr<Reporter>(new Reporter(config, std::move(options)));
}

Reporter::Reporter(const config::RunConfig& config, ReporterOptions options)
    : config_(config),
      options_(std::move(options)),
      console_(options_.console != nullptr ? *options_.console : std::cout),
      terminal_(options_.terminal.value_or(isatty(STDOUT_FILENO) == 1)),
      colour_(terminal_ && !config_.metrics.disable_color_printing),
      warning_([this](const std::string& text) { warn(text); }),
      log_(rank_log_path(config_.job.dump_folder, options_.rank),
           options_.rank,
           log_begin(options_),
           warning_) {
  if (options_.resumed_step > 0) {
    log_.info(concat("the run goes on from step ", options_.resumed_step));
  }
  if (speaks()) {
    write_run_facts(config_, options_.versions, warning_);
    metrics_ = record_file(metrics_path(config_.job.dump_folder));
    validations_ = record_file(validation_path(config_.job.dump_folder));
  }
}

std::unique_ptr<LineFile> Reporter::record_file(const std::string& path) {
  if (options_.resumed_step == 0) {
    return std::make_unique<LineFile>(path, warning_);
  }
  keep_earlier_records(path, options_.resumed_step, warning_);
  return std::make_unique<LineFile>(path, warning_, LineFile::Begin::kAppend);
}

Reporter::~Reporter() {
  clear_bar();
}

void Reporter::say(std::string_view text) {
  print(std::string(text));
  log_.info(text);
}

void Reporter::step(const StepRecord& record) {
  if (record.skipped) {
    ++skipped_;
  } else if (std::isfinite(record.loss) && (!best_ || record.loss < best_->loss)) {
    best_ = record;
  }
  if (speaks()) {
    metrics_->write(to_json(record));
  }
  const double left = seconds_left(record);
  const int64_t total = config_.training.steps;
  const bool shown = record.step == options_.resumed_step + 1 || record.step == total ||
                     record.skipped || record.step % config_.metrics.log_freq == 0;
  if (shown) {
    print(step_line(record, total, left, colour_));
    log_.info(step_line(record, total, left, false));
  }
  draw_bar(record.step);
}

void Reporter::validation(const ValidationRecord& record) {
  if (!best_validation_ || record.loss < best_validation_->loss) {
    best_validation_ = record;
  }
  if (speaks()) {
    validations_->write(to_json(record));
  }
  say(validation_line(record));
}

void Reporter::finish(const Summary& summary) {
  const std::string& folder = config_.job.dump_folder;
  std::string text = concat(summary.stopped_early ? "stopped early: " : "done: ",
                            summary.steps,
                            " steps, ",
                            with_thousands(summary.tokens),
                            " tokens in ",
                            duration_text(summary.seconds));
  if (summary.seconds > 0) {
    const double rate = static_cast<double>(summary.tokens) / summary.seconds;
    text += concat(" (", with_thousands(std::llround(rate)), " tokens/s)");
  }
  if (best_) {
    text += concat("\nbest loss: ", loss_text(best_->loss), " at step ", best_->step);
  }
  if (best_validation_) {
    text += concat("\nbest ", validation_line(*best_validation_));
  }
  if (skipped_ > 0) {
    text += concat("\nskipped: ", skipped_, " steps whose loss or gradient was not finite");
  }
  text += concat("\nmetrics: ",
                 metrics_path(folder),
                 "\nconfig:  ",
                 config_path(folder),
                 "\nlogs:    ",
                 folder,
                 "/rank_*.log");
  if (!summary.checkpoint.empty()) {
    text += concat("\ncheckpoint: ", summary.checkpoint);
  }
  if (!summary.next_command.empty()) {
    text += concat("\nnext:    ", summary.next_command);
  }
  say(text);
}

/// From the mean of the steps after the first, which warms everything up.
double Reporter::seconds_left(const StepRecord& record) {
  if (measured_steps_ == 1 && record.step == options_.resumed_step + 2) {
    measured_ms_ = 0;
    measured_steps_ = 0;
  }
  measured_ms_ += record.step_ms;
  ++measured_steps_;
  const double mean_ms = measured_ms_ / static_cast<double>(measured_steps_);
  return static_cast<double>(config_.training.steps - record.step) * mean_ms / 1000.0;
}

void Reporter::print(const std::string& text) {
  if (speaks()) {
    clear_bar();
    console_ << text << std::endl;
  }
}

void Reporter::draw_bar(int64_t step) {
  if (speaks() && terminal_ && step < config_.training.steps) {
    console_ << "\r\033[K" << bar(step, config_.training.steps) << std::flush;
    bar_drawn_ = true;
  }
}

void Reporter::clear_bar() {
  if (bar_drawn_) {
    console_ << "\r\033[K" << std::flush;
    bar_drawn_ = false;
  }
}

void Reporter::warn(const std::string& text) {
  clear_bar();
  // Each rank warns of its own files where its output goes; the console shows rank 0's.
  (speaks() ? console_ : std::cerr) << text << std::endl;
}

}  // namespace brigade::metrics
