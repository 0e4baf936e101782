// SPDX-License-Identifier: Apache-2.0
/// Reading settings out of TOML text, and out of overrides on a command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trainer/config/settings.h"

namespace brigade::config {

/// Puts every known, well-typed key of `text` into `settings`; everything else is a problem with
/// its place. Goes on after a syntax error or a duplicate with the following lines.
void read_recipe(std::string_view text,
                 const std::string& name,
                 Settings& settings,
                 Problems& problems);

/// The same for overrides in the forms that load() takes.
void read_overrides(const std::vector<std::string>& overrides,
                    Settings& settings,
                    Problems& problems);

/// The value of `text` for `key`: as TOML writes it, bare words where a string is wanted, commas
/// between the strings of a list.
/// Errors: kUsage saying what was found and what is accepted.
Result<std::optional<Value>> parse_value(const Key& key, std::string_view text);

/// A command line cut in two: `section.key=value` (however it was spelled) and all the rest.
struct SplitArguments {
  std::vector<std::string> overrides;
  std::vector<std::string> rest;
};
SplitArguments split_arguments(const std::vector<std::string>& arguments);

}  // namespace brigade::config
