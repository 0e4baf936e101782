// SPDX-License-Identifier: Apache-2.0
/// Runs one point once, as a user would run it, and reads what it gave.
///
///   const Result<std::optional<RunResult>> run =
///       run_point(grid.points[0], study, {.brigade = "/usr/bin/brigade", .stop = asked}, folder);
///
/// Files: <folder>/console.log (of a peer: its standard error), <folder>/run (brigade's run
/// folder), <folder>/output.log (of a peer: its standard output).
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/study/grid.h"
#include "trainer/study/process_tree.h"
#include "trainer/study/run_result.h"
#include "trainer/study/study.h"

namespace brigade::study {

struct RunOptions {
  std::string brigade = "/proc/self/exe";       ///< the program that has `train`
  std::function<bool()> stop = {};              ///< asked ten times a second; true ends the run
  std::vector<std::string> more_settings = {};  ///< of brigade's runs, after the point's own
  std::chrono::milliseconds grace{10000};       ///< from SIGTERM to SIGKILL
};

/// The run folder of brigade itself within the folder of a run.
std::string own_run_folder(const std::string& folder);

/// What is started: `brigade train --config=... key=value ...`, or /bin/sh -c with a peer's
/// command.
TreeCommand command_of(const PlannedPoint& planned,
                       const Study& study,
                       const RunOptions& options,
                       const std::string& folder);

/// None when `stop` ended it. A run that failed, crashed, hung or said nothing of use is a result
/// with `failure` and its last lines. `folder` exists.
/// Errors: kIo when nothing can be started or written.
Result<std::optional<RunResult>> run_point(const PlannedPoint& planned,
                                           const Study& study,
                                           const RunOptions& options,
                                           const std::string& folder);

}  // namespace brigade::study
