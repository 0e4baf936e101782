// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/toml_value.h"

#include <sstream>

#include "parallel/base/text.h"

namespace brigade::config {
namespace {

std::string one_line(const toml::node& node) {
  std::ostringstream out;
  node.visit([&out](const auto& typed) { out << typed; });
  std::string text = out.str();
  for (char& c : text) {
    c = c == '\n' ? ' ' : c;
  }
  constexpr size_t kLongest = 60;
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

std::optional<Value> string_list(const toml::array& array) {
  std::vector<std::string> items;
  for (const toml::node& item : array) {
    const auto* text = item.as_string();
    if (text == nullptr) {
      return std::nullopt;
    }
    items.push_back(text->get());
  }
  return items;
}

}  // namespace

std::optional<Value> to_value(const toml::node& node, Kind kind) {
  switch (kind) {
    case Kind::kBool:
      return node.is_boolean() ? std::optional<Value>(node.as_boolean()->get()) : std::nullopt;
    case Kind::kInteger:
      return node.is_integer() ? std::optional<Value>(node.as_integer()->get()) : std::nullopt;
    case Kind::kNumber:
      if (node.is_integer()) {
        return static_cast<double>(node.as_integer()->get());
      }
      return node.is_floating_point() ? std::optional<Value>(node.as_floating_point()->get())
                                      : std::nullopt;
    case Kind::kString:
      return node.is_string() ? std::optional<Value>(node.as_string()->get()) : std::nullopt;
    case Kind::kStringList: return node.is_array() ? string_list(*node.as_array()) : std::nullopt;
    case Kind::kAnything: return one_line(node);
  }
  return std::nullopt;
}

std::string found(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return concat("the list ", one_line(node));
    case toml::node_type::string: return concat("the string ", toml_text(node.as_string()->get()));
    case toml::node_type::integer: return concat("the integer ", one_line(node));
    case toml::node_type::floating_point: return concat("the float ", one_line(node));
    case toml::node_type::boolean: return one_line(node);
    default: return concat("the date or time ", one_line(node));
  }
}

std::string wrong_type_text(const Key& key, const std::string& found_text) {
  const std::string accepted = key.accepted();
  return concat(key.full_name(),
                " expects ",
                expected(key.kind),
                accepted.empty() ? "" : concat(" (", accepted, ')'),
                ", found ",
                found_text);
}

}  // namespace brigade::config
