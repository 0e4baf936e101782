// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/load.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "parallel/base/text.h"
#include "trainer/config/checks.h"
#include "trainer/config/flavor.h"
#include "trainer/config/keys.h"
#include "trainer/config/recipe.h"

namespace brigade::config {
namespace {

/// The family's and flavor's sizes first, then every key that was given.
RunConfig merged(const Settings& settings, const Problems& problems) {
  RunConfig config;
  if (!problems.spoiled(*find_key("model.flavor")) && !problems.spoiled(*find_key("model.name"))) {
    config.model = flavor(std::get<std::string>(*settings.value("model.name")),
                          std::get<std::string>(*settings.value("model.flavor")));
  }
  for (const Key& key : keys()) {
    const Setting* given = settings.given(key);
    if (given != nullptr && key.works && !problems.spoiled(key)) {
      key.set(config, given->value);
    }
  }
  const bool heads = settings.given(*find_key("model", "n_heads")) != nullptr;
  const bool kv_heads = settings.given(*find_key("model", "n_kv_heads")) != nullptr;
  if (heads && !kv_heads) {
    config.model.n_kv_heads = config.model.n_heads;
  }
  return config;
}

Result<std::string> read_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return fail(ErrorCode::kIo, concat("the recipe is a folder, expected a file: ", path));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return fail(ErrorCode::kIo,
                concat("the recipe could not be read: ", std::strerror(errno), ": ", path));
  }
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

Result<RunConfig> load_text(std::string_view text,
                            const std::string& name,
                            const std::vector<std::string>& overrides) {
  Settings settings;
  Problems problems;
  read_recipe(text, name, settings, problems);
  read_overrides(overrides, settings, problems);
  check_values(settings, problems);
  RunConfig config = merged(settings, problems);
  check_combinations(config, settings, problems);
  if (!problems.empty()) {
    return fail(problems.error());
  }
  return config;
}

Result<RunConfig> load(const std::string& path, const std::vector<std::string>& overrides) {
  if (path.empty()) {
    return load_text("", "", overrides);
  }
  Result<std::string> text = read_file(path);
  if (!text) {
    return fail(text.error());
  }
  return load_text(*text, path, overrides);
}

}  // namespace brigade::config
