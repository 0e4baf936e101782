// SPDX-License-Identifier: Apache-2.0
/// From TOML text to its tables, with all mistakes of the text at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trainer/config/settings.h"
#include "trainer/config/toml_value.h"

namespace brigade::config {

/// Goes on after a syntax error or a duplicate with the following lines. `name` stands for the file
/// in messages. Empty only when nothing could be read.
std::optional<toml::table> parse_toml(std::string_view text,
                                      const std::string& name,
                                      Problems& problems);

}  // namespace brigade::config
