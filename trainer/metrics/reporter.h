// SPDX-License-Identifier: Apache-2.0
/// Reporter: where a rank says what happens. Rank 0 has the console and the metric files; every
/// rank has its log.
///
///   auto reporter = value_or_throw(Reporter::open(config, {.rank = who.rank}));
///   reporter->say(start_block);
///   reporter->step({.step = 1, .loss = 5.54, ...});      // every step, on every rank
///   reporter->finish({.steps = 200, .tokens = 409600, .seconds = 61.2});
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "parallel/base/result.h"
#include "trainer/config/run_config.h"
#include "trainer/metrics/line_file.h"
#include "trainer/metrics/rank_log.h"
#include "trainer/metrics/records.h"
#include "trainer/metrics/run_folder.h"

namespace brigade::metrics {

struct ReporterOptions {
  int rank = 0;
  std::ostream* console = nullptr;  ///< of rank 0; empty: stdout
  std::optional<bool> terminal;     ///< colour and bar; empty: whether stdout is one
  Versions versions = base_versions();
  int64_t resumed_step = 0;  ///< the checkpoint's that the run goes on from; 0: it begins
};

/// Thread safety: one thread, except log(), which any may use.
class Reporter {
 public:
  /// Makes the run folder; rank 0 writes config and versions there, and empties the metric files,
  /// or drops from them what came after the step that the run goes on from.
  /// Errors: kIo when the folder cannot be. Later troubles of the disk are warned about once, and
  ///         the run goes on.
  static Result<std::unique_ptr<Reporter>> open(const config::RunConfig& config,
                                                ReporterOptions options);
  ~Reporter();

  /// Lines for the console of rank 0 and for this rank's log.
  void say(std::string_view text);
  /// One line on the console at the first step, every metrics.log_freq and at the last step; one
  /// object in metrics.jsonl at every step.
  void step(const StepRecord& record);
  void validation(const ValidationRecord& record);
  /// Time, tokens, best losses, paths and the next command.
  void finish(const Summary& summary);

  RankLog& log() { return log_; }

 private:
  Reporter(const config::RunConfig& config, ReporterOptions options);

  std::unique_ptr<LineFile> record_file(const std::string& path);
  bool speaks() const { return options_.rank == 0; }
  void print(const std::string& text);
  void draw_bar(int64_t step);
  void clear_bar();
  void warn(const std::string& text);
  double seconds_left(const StepRecord& record);

  const config::RunConfig config_;
  const ReporterOptions options_;
  std::ostream& console_;
  const bool terminal_;
  const bool colour_;
  DiskWarning warning_;
  RankLog log_;
  std::unique_ptr<LineFile> metrics_;
  std::unique_ptr<LineFile> validations_;
  std::optional<StepRecord> best_;
  std::optional<ValidationRecord> best_validation_;
  int64_t skipped_ = 0;
  double measured_ms_ = 0;
  int64_t measured_steps_ = 0;
  bool bar_drawn_ = false;
};

}  // namespace brigade::metrics
