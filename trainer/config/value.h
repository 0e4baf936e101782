// SPDX-License-Identifier: Apache-2.0
/// Value: what a key holds, between the text of a recipe and the field of RunConfig.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace brigade::config {

enum class Kind : uint8_t {
  kBool,
  kInteger,
  kNumber,  ///< integer or float in TOML, a finite double here
  kString,
  kStringList,
  kAnything  ///< held as TOML text; only for keys that take nothing but their default
};

using Value = std::variant<bool, int64_t, double, std::string, std::vector<std::string>>;

/// "an integer", "true or false": what a message says is accepted.
std::string_view expected(Kind kind);

/// As TOML writes it: `"text"`, `0.0008`, `["a", "b"]`. Numbers read back to the same bits.
std::string toml_text(const Value& value);

/// As a person writes it on a command line: toml_text without the quotes of a string, and the
/// brackets of a list, where they can go.
std::string plain_text(const Value& value);

/// On: true, a number above 1, a text or list that is not empty. Decides whether the keys that
/// belong to a switch matter.
bool is_on(const Value& value);

}  // namespace brigade::config
