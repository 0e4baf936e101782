// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/recipe.h"

#include <algorithm>
#include <set>

#include "parallel/base/text.h"
#include "trainer/config/keys.h"
#include "trainer/config/toml_text.h"

namespace brigade::config {
namespace {

bool is_table_prefix(const std::string& path) {
  const auto& all = tables();
  return std::any_of(all.begin(), all.end(), [&](const std::string& table) {
    return table == path || table.rfind(path + '.', 0) == 0;
  });
}

class Walk {
 public:
  Walk(const std::string& name, Settings& settings, Problems& problems)
      : name_(name), settings_(settings), problems_(problems) {}

  void table(const toml::table& nodes, const std::string& path) {
    for (const auto& [key, node] : nodes) {
      const std::string name(key.str());
      const std::string child = path.empty() ? name : concat(path, '.', name);
      const Place place = at(key.source());
      const Key* known = find_key(path, name);
      if (known != nullptr) {
        setting(*known, node, place);
      } else if (node.is_table() && is_table_prefix(child)) {
        table(*node.as_table(), child);
      } else if (node.is_table() || node.is_array_of_tables()) {
        problems_.add(place, unknown_table_text(child));
      } else {
        problems_.add(place, unknown_key_text(path, name));
      }
    }
  }

 private:
  Place at(const toml::source_region& source) const {
    return in_file(
        name_, static_cast<int64_t>(source.begin.line), static_cast<int64_t>(source.begin.column));
  }

  void setting(const Key& key, const toml::node& node, const Place& place) {
    std::optional<Value> value = to_value(node, key.kind);
    if (!value) {
      problems_.add(place, wrong_type_text(key, found(node)), &key);
      return;
    }
    if (key.optional() && *value == Value(std::string())) {
      value.reset();
    }
    settings_.put(key, {std::move(value), place});
  }

  const std::string& name_;
  Settings& settings_;
  Problems& problems_;
};

}  // namespace

void read_recipe(std::string_view text,
                 const std::string& name,
                 Settings& settings,
                 Problems& problems) {
  const std::optional<toml::table> root = parse_toml(text, name, problems);
  if (root) {
    Walk(name, settings, problems).table(*root, "");
  }
}

Result<std::optional<Value>> parse_value(const Key& key, std::string_view text) {
  if (text.empty() && key.optional()) {
    return std::nullopt;
  }
  std::string written(text);
  if (key.kind == Kind::kBool && (written == "True" || written == "False")) {
    written[0] = written[0] == 'T' ? 't' : 'f';
  }
  if (written.find('\n') == std::string::npos) {
    const std::string line = concat("value = ", written);
    try {
      const toml::table parsed = toml::parse(std::string_view(line));
      const toml::node& node = *parsed.get("value");
      if (std::optional<Value> value = to_value(node, key.kind)) {
        return value;
      }
      // A bare 8 or true is a fine text where a text is wanted.
      const bool bare = !node.is_string() && !node.is_table() && !node.is_array();
      if ((key.kind != Kind::kString && key.kind != Kind::kStringList) || !bare) {
        return fail(ErrorCode::kUsage, wrong_type_text(key, found(node)));
      }
    } catch (const toml::parse_error&) {
      // Not TOML: a bare word, perhaps.
    }
  }
  if (key.kind == Kind::kString) {
    return Value(written);
  }
  if (key.kind == Kind::kStringList) {
    std::vector<std::string> items;
    for (size_t begin = 0; begin < written.size();) {
      const size_t end = std::min(written.find(',', begin), written.size());
      items.push_back(written.substr(begin, end - begin));
      begin = end + 1;
    }
    return Value(items);
  }
  return fail(ErrorCode::kUsage,
              wrong_type_text(key, written.empty() ? "nothing" : concat('`', written, '`')));
}

}  // namespace brigade::config
