// SPDX-License-Identifier: Apache-2.0
/// Reads a recipe and the overrides of a command line into one RunConfig, or says all that is
/// wrong.
///
///   Result<RunConfig> config = load("configs/tiny/single.toml", {"training.steps=20"});
///
/// Command line over file over default. Overrides are `section.key=value`, the value as TOML writes
/// it (bare words are strings); torchtitan's `--section.key=value`, `--section.key value` and
/// `--section.flag` are understood too, and a hyphen is an underscore.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/config/run_config.h"

namespace brigade::config {

/// An empty `path` means no file.
/// Errors: kIo when the file cannot be read; kUsage with every problem of file and command line at
///         once, each with its place, what was found, what is accepted and the nearest name; then
///         all settings that this version cannot follow (asks), with what to set to go on.
Result<RunConfig> load(const std::string& path, const std::vector<std::string>& overrides);

/// The same from a text in memory; `name` stands for the file in messages.
Result<RunConfig> load_text(std::string_view text,
                            const std::string& name,
                            const std::vector<std::string>& overrides);

}  // namespace brigade::config
