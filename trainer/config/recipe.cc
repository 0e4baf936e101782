// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/recipe.h"

#include <algorithm>
#include <set>

#include "parallel/base/text.h"
#include "trainer/config/keys.h"
#include "trainer/config/toml_value.h"

namespace brigade::config {
namespace {

using Lines = std::vector<std::string>;

Lines split_lines(std::string_view text) {
  Lines lines;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

bool opens_table(const std::string& line) {
  const size_t first = line.find_first_not_of(" \t");
  return first != std::string::npos && line[first] == '[';
}

/// The parser's words without its own grammar: "Error while parsing value: x" -> "x".
std::string parser_words(std::string_view description) {
  constexpr std::string_view kNoise = "Error while parsing ";
  if (description.substr(0, kNoise.size()) == kNoise) {
    description.remove_prefix(kNoise.size());
  }
  return std::string(description);
}

/// The first 'name' in quotes, after "cannot redefine existing".
std::string redefined_name(const std::string& words) {
  const size_t begin = words.find('\'');
  const size_t end = words.rfind('\'');
  return begin == std::string::npos || end == begin ? "" : words.substr(begin + 1, end - begin - 1);
}

/// Parses, and after each error blanks the line (for a repeated table: all of its lines) and tries
/// again, so that one mistake does not hide the next.
class Recovery {
 public:
  Recovery(std::string_view text, std::string name, Problems& problems)
      : lines_(split_lines(text)), name_(std::move(name)), problems_(problems) {}

  std::optional<toml::table> parse() {
    constexpr int kMostErrors = 50;
    for (int round = 0; round < kMostErrors; ++round) {
      const std::string text = join(lines_, "\n");
      try {
        return toml::parse(std::string_view(text), std::string_view(name_));
      } catch (const toml::parse_error& error) {
        if (!report_and_blank(error)) {
          return std::nullopt;
        }
      }
    }
    return std::nullopt;
  }

 private:
  bool report_and_blank(const toml::parse_error& error) {
    const auto line = static_cast<int64_t>(error.source().begin.line);
    const std::string words = parser_words(error.description());
    const std::string repeated =
        words.find("cannot redefine") == std::string::npos ? "" : redefined_name(words);
    int64_t column = static_cast<int64_t>(error.source().begin.column);
    const auto index = static_cast<size_t>(std::max<int64_t>(line, 1) - 1);
    const bool known_line = index < lines_.size();
    if (known_line && !repeated.empty()) {
      column = static_cast<int64_t>(lines_[index].find_first_not_of(" \t")) + 1;
    }
    problems_.add(in_file(name_, line, column), repeated.empty() ? words : duplicate_text(index));
    if (!known_line || !blanked_.insert(index).second) {
      return false;
    }
    const bool table = !repeated.empty() && opens_table(lines_[index]);
    lines_[index].clear();
    for (size_t next = index + 1; table && next < lines_.size() && !opens_table(lines_[next]);
         ++next) {
      lines_[next].clear();
    }
    return true;
  }

  std::string duplicate_text(size_t index) const {
    const std::string& line = lines_[index];
    if (opens_table(line)) {
      const size_t begin = line.find('[');
      const std::string header = line.substr(begin, line.find(']') + 1 - begin);
      return concat("duplicate table ", header, "; join its keys with the first one's");
    }
    const size_t begin = line.find_first_not_of(" \t");
    const std::string key = line.substr(begin, line.find_first_of(" \t=", begin) - begin);
    // The first of the two: nearest earlier line that begins alike.
    for (size_t first = index; first-- > 0 && !opens_table(lines_[first]);) {
      const size_t at = lines_[first].find_first_not_of(" \t");
      if (at != std::string::npos && lines_[first].compare(at, key.size(), key) == 0) {
        return concat("duplicate key `", key, "`; the first is on line ", first + 1);
      }
    }
    return concat("duplicate key `", key, '`');
  }

  Lines lines_;
  std::string name_;
  Problems& problems_;
  std::set<size_t> blanked_;
};

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
  const std::optional<toml::table> root = Recovery(text, name, problems).parse();
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
