// SPDX-License-Identifier: Apache-2.0
/// A RunConfig as a recipe again, and the key table as text: what --print-config and --help show.
#pragma once

#include <string>
#include <string_view>

#include "trainer/config/key.h"
#include "trainer/config/run_config.h"

namespace brigade::config {

/// Every working key with its value, table by table; unset ones as comments. Loads back to an equal
/// RunConfig.
std::string to_toml(const RunConfig& config);

/// Whether `key` has a place in a recipe that says `config`: it works, and belongs to no other
/// optimizer, family or source of data.
bool has_place(const Key& key, const RunConfig& config);

/// All keys, or those of one table ("training"): name, type, default, accepted values, help.
std::string keys_help(std::string_view table = "");

/// The same as a Markdown page.
std::string keys_page();

}  // namespace brigade::config
