// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/hugging_face_index.h"

#include <iomanip>
#include <regex>
#include <sstream>
#include <utility>

#include "parallel/base/text.h"
#include "trainer/checkpoint/folder_entry.h"
#include "trainer/checkpoint/json_object.h"

namespace brigade::checkpoint {

Result<std::map<std::string, std::string>> parse_hugging_face_index(std::string_view text,
                                                                    const std::string& name) {
  const Result<nlohmann::json> json = parse_json_object(text, name);
  if (!json) {
    return fail(json.error());
  }
  const auto found = json->find("weight_map");
  if (found == json->end() || !found->is_object()) {
    return fail(ErrorCode::kData,
                concat(name, ": expected an object weight_map of tensor names to file names"));
  }
  std::map<std::string, std::string> files;
  for (const auto& [tensor, file] : found->items()) {
    if (!file.is_string()) {
      return fail(ErrorCode::kData,
                  concat(name, ": tensor ", tensor, ": expected a file name; found ", file.dump()));
    }
    const auto& value = file.get_ref<const std::string&>();
    if (!is_plain_name(value)) {
      return fail(ErrorCode::kData,
                  concat(name,
                         ": tensor ",
                         tensor,
                         ": expected the plain name of a file beside the index; found ",
                         shown_name(value)));
    }
    files.emplace(tensor, value);
  }
  return files;
}

std::string hugging_face_index(const std::map<std::string, std::string>& weight_map,
                               uint64_t total_size) {
  const nlohmann::json json = {{"metadata", {{"total_size", total_size}}},
                               {"weight_map", weight_map}};
  return json.dump(2) + "\n";
}

std::string hugging_face_shard_name(size_t shard, size_t shards) {
  if (shards == 1) {
    return "model.safetensors";
  }
  std::ostringstream name;
  name << std::setfill('0') << "model-" << std::setw(5) << shard + 1 << "-of-" << std::setw(5)
       << shards << ".safetensors";
  return name.str();
}

bool is_hugging_face_weights_name(std::string_view name) {
  static const std::regex pattern(
      R"(model(-\d{5}-of-\d{5})?\.safetensors|model\.safetensors\.index\.json)");
  return std::regex_match(name.begin(), name.end(), pattern);
}

}  // namespace brigade::checkpoint
