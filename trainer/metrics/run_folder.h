// SPDX-License-Identifier: Apache-2.0
/// The run folder (job.dump_folder): config.toml, versions.json, metrics.jsonl, validation.jsonl
/// and a log per rank.
#pragma once

#include <map>
#include <string>

#include "parallel/base/result.h"
#include "trainer/config/run_config.h"
#include "trainer/metrics/disk_warning.h"

namespace brigade::metrics {

/// Name to version or description, written as JSON: {"brigade": "0.1.0", "compiler": "12.2.0",
/// ...}.
using Versions = std::map<std::string, std::string>;

/// Brigade's own version, the compiler, kernel and host; the caller adds its libraries.
Versions base_versions();

/// Makes the folder.
/// Errors: kIo when something else is in the way or it may not be written.
Result<void> make_run_folder(const std::string& folder);

std::string metrics_path(const std::string& folder);
std::string validation_path(const std::string& folder);
std::string config_path(const std::string& folder);
std::string versions_path(const std::string& folder);
/// Whoever makes this file stops the run at its next step, with a checkpoint saved.
std::string stop_file_path(const std::string& folder);
bool stop_file_is_there(const std::string& folder);
/// Removes it, once it is obeyed.
/// Errors: kIo when it is still there, and would stop the next run too.
Result<void> take_stop_file(const std::string& folder);
/// Also where spawn() sends the output of a rank.
std::string rank_log_path(const std::string& folder, int rank);

/// Writes the resolved config (also to job.save_config_file) and the versions; what cannot be
/// written is told to `warning`.
void write_run_facts(const config::RunConfig& config,
                     const Versions& versions,
                     DiskWarning& warning);

}  // namespace brigade::metrics
