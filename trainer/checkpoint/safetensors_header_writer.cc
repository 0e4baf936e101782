// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/safetensors_header_writer.h"

#include <nlohmann/json.hpp>

#include "parallel/base/text.h"
#include "trainer/checkpoint/safetensors_header.h"

namespace brigade::checkpoint {
namespace {

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump();
}

std::string json_of(std::span<const EntryToWrite> entries,
                    const std::map<std::string, std::string>& metadata) {
  std::vector<std::string> members;
  if (!metadata.empty()) {
    std::vector<std::string> pairs;
    for (const auto& [key, value] : metadata) {
      pairs.push_back(quoted(key) + ":" + quoted(value));
    }
    members.push_back(concat(quoted(kMetadataKey), ":{", join(pairs, ","), "}"));
  }
  uint64_t begin = 0;
  for (const EntryToWrite& entry : entries) {
    const uint64_t end = begin + entry.bytes;
    members.push_back(concat(quoted(entry.name),
                             R"(:{"dtype":")",
                             entry.type,
                             R"(","shape":[)",
                             join(entry.shape, ","),
                             R"(],"data_offsets":[)",
                             begin,
                             ",",
                             end,
                             "]}"));
    begin = end;
  }
  return "{" + join(members, ",") + "}";
}

}  // namespace

bool comes_before(const EntryToWrite& a, const EntryToWrite& b) {
  return a.type != b.type ? a.type > b.type : a.name < b.name;
}

Result<std::string> safetensors_header(std::span<const EntryToWrite> entries,
                                       const std::map<std::string, std::string>& metadata) {
  std::string json;
  try {
    json = json_of(entries, metadata);
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kData, concat("a name is not UTF-8: ", error.what()));
  }
  json.resize((json.size() + 7) / 8 * 8, ' ');
  if (json.size() > kMaxHeaderBytes) {
    return fail(ErrorCode::kData,
                concat("expected a header of at most ",
                       kMaxHeaderBytes,
                       " bytes; it would have ",
                       json.size()));
  }
  std::string length;
  for (size_t byte = 0; byte < kLengthBytes; ++byte) {
    length += static_cast<char>(json.size() >> (8 * byte) & 0xff);
  }
  return length + json;
}

}  // namespace brigade::checkpoint
