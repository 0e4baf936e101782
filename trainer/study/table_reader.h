// SPDX-License-Identifier: Apache-2.0
/// Reads the keys of one TOML table, and says of each what is wrong with it and where.
///
///   TableReader reader(table, "study", "two_ranks.toml", problems);
///   reader.integer("steps", study.steps, 1);
///   reader.finish();      // "unknown key `stepps` in [study]; the nearest is `steps`"
///
/// A key that is not there, or cannot be used, leaves its value as it was. Lists may be given as a
/// single value; empty ones and repeated entries are problems.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/config/settings.h"
#include "trainer/config/toml_value.h"

namespace brigade::study {

class TableReader {
 public:
  /// All of these outlive the reader.
  TableReader(const toml::table& table,
              std::string name,
              const std::string& file,
              config::Problems& problems);

  const std::string& file() const { return file_; }
  config::Problems& problems() { return problems_; }
  bool has(const std::string& key) const { return table_.contains(key); }
  /// Where the key stands, or the table where it does not.
  config::Place place(const std::string& key) const;
  config::Place place(const toml::node& node) const;
  void problem(const std::string& key, std::string text);

  void text(const std::string& key, std::string& out);
  void integer(const std::string& key, int64_t& out, int64_t least);
  void flag(const std::string& key, bool& out);
  void texts(const std::string& key, std::vector<std::string>& out);
  void integers(const std::string& key, std::vector<int64_t>& out, int64_t least);
  /// For the caller to read; nullptr when it is not there.
  const toml::node* node(const std::string& key);

  /// Reports the keys that nobody asked for.
  void finish();

 private:
  config::Key row(const std::string& key, config::Kind kind, int64_t least) const;
  /// Nothing, with a problem, where the node is of another kind or too small.
  std::optional<config::Value> value(const config::Key& key, const toml::node& node);
  template <class T>
  void list(const config::Key& key, std::vector<T>& out);

  const toml::table& table_;
  std::string name_;
  const std::string& file_;
  config::Problems& problems_;
  std::vector<std::string> known_;
};

}  // namespace brigade::study
