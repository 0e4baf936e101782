// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/keys.h"

#include <algorithm>
#include <iterator>

namespace brigade::config {

const std::vector<Key>& keys() {
  static const std::vector<Key> all = [] {
    std::vector<Key> rows;
    for (auto part : {run_keys,
                      model_keys,
                      training_keys,
                      parallelism_keys,
                      recompute_keys,
                      checkpoint_keys,
                      profiling_keys,
                      later_keys}) {
      std::vector<Key> more = part();
      std::move(more.begin(), more.end(), std::back_inserter(rows));
    }
    return rows;
  }();
  return all;
}

const std::vector<std::string>& tables() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names;
    for (const Key& key : keys()) {
      if (std::find(names.begin(), names.end(), key.table) == names.end()) {
        names.push_back(key.table);
      }
    }
    return names;
  }();
  return all;
}

const Key* find_key(std::string_view table, std::string_view name) {
  const auto& rows = keys();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Key& key) {
    return key.table == table && key.name == name;
  });
  return found == rows.end() ? nullptr : &*found;
}

const Key* find_key(std::string_view full_name) {
  const size_t dot = full_name.rfind('.');
  return dot == std::string_view::npos
             ? nullptr
             : find_key(full_name.substr(0, dot), full_name.substr(dot + 1));
}

}  // namespace brigade::config
