// SPDX-License-Identifier: Apache-2.0
/// Settings: what was given for which key and where; Problems: what is wrong with it, all at once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/config/key.h"

namespace brigade::config {

/// Where something was said: "recipe.toml:12:5", "command line: training.steps=x", "default".
struct Place {
  enum class Source : uint8_t { kDefault, kFile, kCommandLine };
  Source source = Source::kDefault;
  int64_t line = 0;
  int64_t column = 0;
  std::string text = "default";
};

Place in_file(const std::string& name, int64_t line, int64_t column);
Place on_command_line(std::string_view argument);

struct Setting {
  std::optional<Value> value;  ///< empty: given as "leave it unset"
  Place place;
};

/// By key of keys(); the command line's settings replace the file's.
class Settings {
 public:
  void put(const Key& key, Setting setting) { given_[&key] = std::move(setting); }
  const Setting* given(const Key& key) const;
  /// The given value or the default.
  std::optional<Value> value(std::string_view full_name) const;
  Place place(const Key& key) const;

 private:
  std::map<const Key*, Setting> given_;
};

class Problems {
 public:
  /// `about`: the key whose value cannot be used, if it is one.
  void add(Place place, std::string text, const Key* about = nullptr);
  /// A known wish that this version cannot follow; `remedy` is the override that drops it.
  void ask(Place place, std::string text, std::string remedy, const Key* about = nullptr);

  /// Whether the key's own value is a problem: checks of combinations then pass it over.
  bool spoiled(const Key& key) const { return spoiled_.count(&key) > 0; }
  bool empty() const { return problems_.empty() && asks_.empty(); }
  /// kUsage with everything listed: file by line, then command line, then asks.
  Error error() const;

 private:
  struct Problem {
    Place place;
    std::string text;
  };

  static std::string listed(std::vector<Problem> problems);

  std::vector<Problem> problems_;
  std::vector<Problem> asks_;
  std::vector<std::string> remedies_;
  std::set<const Key*> spoiled_;
};

/// "unknown key `sed` in [debug]; the nearest is `seed`": where the key belongs, the nearest name
/// or the whole table. An empty `table` is the top of a file.
std::string unknown_key_text(std::string_view table, std::string_view name);
std::string unknown_table_text(std::string_view table);

}  // namespace brigade::config
