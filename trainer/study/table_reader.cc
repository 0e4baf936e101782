// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/table_reader.h"

#include <algorithm>
#include <utility>

#include "parallel/base/text.h"

namespace brigade::study {

using config::Key;
using config::Kind;
using config::Value;

TableReader::TableReader(const toml::table& table,
                         std::string name,
                         const std::string& file,
                         config::Problems& problems)
    : table_(table), name_(std::move(name)), file_(file), problems_(problems) {}

config::Place TableReader::place(const toml::node& node) const {
  const toml::source_position begin = node.source().begin;
  return config::in_file(
      file_, static_cast<int64_t>(begin.line), static_cast<int64_t>(begin.column));
}

config::Place TableReader::place(const std::string& key) const {
  for (const auto& [name, node] : table_) {
    if (name.str() == key) {
      const toml::source_position begin = name.source().begin;
      return config::in_file(
          file_, static_cast<int64_t>(begin.line), static_cast<int64_t>(begin.column));
    }
  }
  return place(table_);
}

void TableReader::problem(const std::string& key, std::string text) {
  problems_.add(place(key), std::move(text));
}

const toml::node* TableReader::node(const std::string& key) {
  known_.push_back(key);
  return table_.get(key);
}

// Counts of a study multiply: three of them stay far from where 64 bits end.
constexpr double kMostInteger = 1e6;

Key TableReader::row(const std::string& key, Kind kind, int64_t least) const {
  Key row;
  row.table = name_;
  row.name = key;
  row.kind = kind;
  if (kind == Kind::kInteger) {
    row.minimum = static_cast<double>(least);
    row.maximum = kMostInteger;
  }
  return row;
}

std::optional<Value> TableReader::value(const Key& key, const toml::node& node) {
  std::optional<Value> value = config::to_value(node, key.kind);
  const auto* integer = value ? std::get_if<int64_t>(&*value) : nullptr;
  const auto* text = value ? std::get_if<std::string>(&*value) : nullptr;
  const bool outside = integer != nullptr && (static_cast<double>(*integer) < *key.minimum ||
                                              static_cast<double>(*integer) > *key.maximum);
  if (value && !outside && (text == nullptr || !text->empty())) {
    return value;
  }
  problems_.add(place(node), config::wrong_type_text(key, config::found(node)));
  return std::nullopt;
}

void TableReader::text(const std::string& key, std::string& out) {
  if (const toml::node* given = node(key)) {
    if (std::optional<Value> read = value(row(key, Kind::kString, 0), *given)) {
      out = std::get<std::string>(std::move(*read));
    }
  }
}

void TableReader::integer(const std::string& key, int64_t& out, int64_t least) {
  if (const toml::node* given = node(key)) {
    if (const std::optional<Value> read = value(row(key, Kind::kInteger, least), *given)) {
      out = std::get<int64_t>(*read);
    }
  }
}

void TableReader::flag(const std::string& key, bool& out) {
  if (const toml::node* given = node(key)) {
    if (const std::optional<Value> read = value(row(key, Kind::kBool, 0), *given)) {
      out = std::get<bool>(*read);
    }
  }
}

template <class T>
void TableReader::list(const Key& key, std::vector<T>& out) {
  const toml::node* given = node(key.name);
  if (given == nullptr) {
    return;
  }
  std::vector<T> read;
  const auto take = [&](const toml::node& entry) {
    const std::optional<Value> one = value(key, entry);
    if (one && std::find(read.begin(), read.end(), std::get<T>(*one)) != read.end()) {
      problems_.add(place(entry), concat(key.full_name(), " has ", config::found(entry), " twice"));
    } else if (one) {
      read.push_back(std::get<T>(*one));
    }
  };
  if (const toml::array* entries = given->as_array()) {
    if (entries->empty()) {
      problem(key.name, concat(key.full_name(), " is an empty list; leave it out or fill it"));
    }
    for (const toml::node& entry : *entries) {
      take(entry);
    }
  } else {
    take(*given);
  }
  out = std::move(read);
}

void TableReader::texts(const std::string& key, std::vector<std::string>& out) {
  list(row(key, Kind::kString, 0), out);
}

void TableReader::integers(const std::string& key, std::vector<int64_t>& out, int64_t least) {
  list(row(key, Kind::kInteger, least), out);
}

void TableReader::finish() {
  for (const auto& [key, node] : table_) {
    const std::string name(key.str());
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) {
      continue;
    }
    const std::optional<std::string> near = nearest_name(name, known_);
    problem(name,
            concat("unknown key `",
                   name,
                   "` in [",
                   name_,
                   near ? concat("]; the nearest is `", *near, '`')
                        : concat("], which takes ", join(known_))));
  }
}

}  // namespace brigade::study
