// SPDX-License-Identifier: Apache-2.0
/// From toml++'s nodes to Value; the only header that shows toml++ (2 s of compile time).
#pragma once

#include <optional>
#include <string>

// toml++ asserts what it then checks: with its assertions, "[!]" in a recipe would end the process
// instead of being a parse error.
#define TOML_ASSERT(expression) static_assert(true)
#include <toml++/toml.h>

#include "trainer/config/key.h"

namespace brigade::config {

/// Empty when the node is of another kind. Integers pass for numbers.
std::optional<Value> to_value(const toml::node& node, Kind kind);

/// "the string \"abc\"", "a table": what a message says was found.
std::string found(const toml::node& node);

/// "expected an integer (at least 1), found the string \"8\"".
std::string wrong_type_text(const Key& key, const std::string& found_text);

}  // namespace brigade::config
