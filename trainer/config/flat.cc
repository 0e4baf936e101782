// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/flat.h"

#include <iomanip>
#include <sstream>

#include "parallel/base/philox.h"
#include "trainer/config/keys.h"
#include "trainer/config/print.h"

namespace brigade::config {

std::map<std::string, std::string> flat(const RunConfig& config) {
  std::map<std::string, std::string> out;
  for (const Key& key : keys()) {
    if (!has_place(key, config)) {
      continue;
    }
    if (const std::optional<Value> value = key.get(config)) {
      out.emplace(key.full_name(), plain_text(*value));
    }
  }
  return out;
}

std::string recipe_hash(const RunConfig& config) {
  RunConfig recipe = config;
  recipe.job = {};
  std::ostringstream digits;
  digits << std::hex << std::setw(16) << std::setfill('0')
         << random_stream("recipe", to_toml(recipe));
  return digits.str();
}

}  // namespace brigade::config
