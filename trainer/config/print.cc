// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/print.h"

#include <algorithm>

#include "parallel/base/text.h"
#include "trainer/config/keys.h"

namespace brigade::config {
namespace {

/// Whether the key means something here: it may belong to one optimizer or family alone.
bool applies(const Key& key, const RunConfig& config) {
  if (key.owner_key.empty()) {
    return true;
  }
  return find_key(key.owner_key)->get(config) == Value(key.owner);
}

std::string type_name(Kind kind) {
  switch (kind) {
    case Kind::kBool: return "bool";
    case Kind::kInteger: return "integer";
    case Kind::kNumber: return "number";
    case Kind::kString: return "string";
    case Kind::kStringList: return "list";
    case Kind::kAnything: return "any";
  }
  return "";
}

std::string default_text(const Key& key) {
  return key.fallback ? toml_text(*key.fallback) : "unset";
}

/// What follows the help: accepted values of a working key, the reason of one that waits.
std::string condition(const Key& key) {
  if (!key.works) {
    return concat("accepted at its default alone: ", key.reason);
  }
  const std::string accepted = key.accepted();
  return concat(accepted,
                accepted.empty() || key.owner.empty() ? "" : "; ",
                key.owner.empty() ? "" : concat("for ", key.owner, " alone"));
}

}  // namespace

bool has_place(const Key& key, const RunConfig& config) {
  return key.works && applies(key, config) &&
         !(key.full_name() == "validation.fraction" && config.validation.dataset_path);
}

std::string to_toml(const RunConfig& config) {
  std::string out;
  std::string open_table;
  for (const Key& key : keys()) {
    if (!has_place(key, config)) {
      continue;
    }
    if (key.table != open_table) {
      out += concat(out.empty() ? "" : "\n", '[', key.table, "]\n");
      open_table = key.table;
    }
    const std::optional<Value> value = key.get(config);
    out += value ? concat(key.name, " = ", toml_text(*value), '\n')
                 : concat("# ", key.name, " is unset: ", key.help, '\n');
  }
  return out;
}

std::string keys_help(std::string_view table) {
  std::string out;
  std::string open_table;
  for (const Key& key : keys()) {
    if (!table.empty() && key.table != table) {
      continue;
    }
    if (key.table != open_table) {
      out += concat(out.empty() ? "" : "\n", '[', key.table, "]\n");
      open_table = key.table;
    }
    const std::string more = condition(key);
    out += concat("  ",
                  key.name,
                  " (",
                  type_name(key.kind),
                  ", ",
                  default_text(key),
                  "): ",
                  key.help,
                  more.empty() ? "" : concat("; ", more),
                  '\n');
  }
  return out;
}

std::string keys_page() {
  std::string out;
  std::string open_table;
  for (const Key& key : keys()) {
    if (key.table != open_table) {
      out += concat(out.empty() ? "" : "\n",
                    "## [",
                    key.table,
                    "]\n\n| key | type | default | meaning | accepted |\n|---|---|---|---|---|\n");
      open_table = key.table;
    }
    const std::string default_value = default_text(key);
    out += concat("| `",
                  key.name,
                  "` | ",
                  type_name(key.kind),
                  " | `",
                  default_value,
                  "` | ",
                  key.help,
                  " | ",
                  condition(key),
                  " |\n");
  }
  return out;
}

}  // namespace brigade::config
