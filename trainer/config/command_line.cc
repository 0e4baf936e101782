// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "parallel/base/text.h"
#include "trainer/config/keys.h"
#include "trainer/config/recipe.h"

namespace brigade::config {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

struct Named {
  std::string table;
  std::string name;
};

/// "training.seq-len" -> {"training", "seq_len"}; without a dot the table is empty.
Named named(std::string_view full) {
  std::string text(full);
  std::replace(text.begin(), text.end(), '-', '_');
  const size_t dot = text.rfind('.');
  return dot == std::string::npos ? Named{"", text}
                                  : Named{text.substr(0, dot), text.substr(dot + 1)};
}

/// "--training.steps" and everything like it, but no path and no flag of ours.
bool is_dashed_override(std::string_view argument) {
  const std::string_view name = argument.substr(0, argument.find('='));
  return starts_with(name, "--") && name.find('.') != std::string_view::npos &&
         name.find('/') == std::string_view::npos;
}

/// "training.steps=5": a name before the first '=' that no flag or file would have.
bool is_plain_override(std::string_view argument) {
  return !starts_with(argument, "-") && argument.find('=') != std::string_view::npos;
}

/// torchtitan's boolean actions: --section.flag sets, --section.no_flag clears. "" when it is none.
std::string flag_override(std::string_view name) {
  const Named key = named(name);
  if (const Key* known = find_key(key.table, key.name)) {
    return known->kind == Kind::kBool ? concat(known->full_name(), "=true") : "";
  }
  if (starts_with(key.name, "no_")) {
    const Key* known = find_key(key.table, std::string_view(key.name).substr(3));
    return known != nullptr && known->kind == Kind::kBool ? concat(known->full_name(), "=false")
                                                          : "";
  }
  return "";
}

bool is_truth(std::string_view text) {
  return text == "true" || text == "false" || text == "True" || text == "False";
}

/// One `--section.key [value]` at `at`; moves `at` past what it took.
std::string take_dashed(const std::vector<std::string>& arguments, size_t& at) {
  const std::string_view argument = std::string_view(arguments[at]).substr(2);
  ++at;
  if (argument.find('=') != std::string_view::npos) {
    return std::string(argument);
  }
  const bool more = at < arguments.size();
  const std::string flag = flag_override(argument);
  if (!flag.empty() && !(more && is_truth(arguments[at]))) {
    return flag;
  }
  if (more && !starts_with(arguments[at], "--") && !is_plain_override(arguments[at])) {
    return concat(argument, '=', arguments[at++]);
  }
  return std::string(argument);
}

class Overrides {
 public:
  Overrides(Settings& settings, Problems& problems) : settings_(settings), problems_(problems) {}

  void read(const std::string& override_text) {
    const Place place = on_command_line(override_text);
    const size_t equals = override_text.find('=');
    const Named key = named(std::string_view(override_text).substr(0, equals));
    const Key* known = find_key(key.table, key.name);
    if (known == nullptr) {
      problems_.add(place, unknown(key));
      return;
    }
    if (equals == std::string::npos) {
      problems_.add(place, concat("a value is missing; write ", known->full_name(), "=VALUE"));
      return;
    }
    if (!seen_.insert(known).second) {
      problems_.add(place, concat("duplicate key: ", known->full_name(), " is given twice"));
      return;
    }
    Result<std::optional<Value>> value =
        parse_value(*known, std::string_view(override_text).substr(equals + 1));
    if (!value) {
      problems_.add(place, value.error().text, known);
      return;
    }
    settings_.put(*known, {std::move(*value), place});
  }

 private:
  static std::string unknown(const Named& key) {
    const auto& all = tables();
    const bool known_table = std::find(all.begin(), all.end(), key.table) != all.end();
    return key.table.empty() || known_table ? unknown_key_text(key.table, key.name)
                                            : unknown_table_text(key.table);
  }

  Settings& settings_;
  Problems& problems_;
  std::set<const Key*> seen_;
};

}  // namespace

SplitArguments split_arguments(const std::vector<std::string>& arguments) {
  SplitArguments split;
  for (size_t at = 0; at < arguments.size();) {
    if (is_dashed_override(arguments[at])) {
      split.overrides.push_back(take_dashed(arguments, at));
    } else if (is_plain_override(arguments[at])) {
      split.overrides.push_back(arguments[at++]);
    } else {
      split.rest.push_back(arguments[at++]);
    }
  }
  return split;
}

void read_overrides(const std::vector<std::string>& overrides,
                    Settings& settings,
                    Problems& problems) {
  const SplitArguments split = split_arguments(overrides);
  Overrides reader(settings, problems);
  for (const std::string& text : split.overrides) {
    reader.read(text);
  }
  for (const std::string& text : split.rest) {
    problems.add(on_command_line(text), "expected section.key=value");
  }
}

}  // namespace brigade::config
