// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/safetensors_writer.h"

#include <algorithm>
#include <set>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "trainer/checkpoint/output_file.h"
#include "trainer/checkpoint/safetensors_header.h"

namespace brigade::checkpoint {
namespace {

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump();
}

uint64_t bytes_of(const TensorToWrite& tensor) {
  uint64_t bits = bits_of(tensor.type);
  for (const uint64_t size : tensor.shape) {
    bits *= size;
  }
  BRIGADE_CHECK(bits % 8 == 0, tensor.name, tensor.type, bits);
  return bits / 8;
}

std::vector<const TensorToWrite*> in_file_order(std::span<const TensorToWrite> tensors) {
  std::vector<const TensorToWrite*> order;
  std::set<std::string_view> names = {kMetadataKey};
  for (const TensorToWrite& tensor : tensors) {
    BRIGADE_CHECK(names.insert(tensor.name).second, tensor.name);
    BRIGADE_CHECK(tensor.bytes.size() == bytes_of(tensor), tensor.name, tensor.bytes.size());
    order.push_back(&tensor);
  }
  std::sort(order.begin(), order.end(), [](const TensorToWrite* a, const TensorToWrite* b) {
    return a->type != b->type ? a->type > b->type : a->name < b->name;
  });
  return order;
}

/// The length and the padded header. Throws where a name is not UTF-8.
std::string header_of(const std::vector<const TensorToWrite*>& order,
                      const std::map<std::string, std::string>& metadata) {
  std::vector<std::string> entries;
  if (!metadata.empty()) {
    std::vector<std::string> pairs;
    for (const auto& [key, value] : metadata) {
      pairs.push_back(quoted(key) + ":" + quoted(value));
    }
    entries.push_back(concat(quoted(kMetadataKey), ":{", join(pairs, ","), "}"));
  }
  uint64_t begin = 0;
  for (const TensorToWrite* tensor : order) {
    const uint64_t end = begin + tensor->bytes.size();
    entries.push_back(concat(quoted(tensor->name),
                             R"(:{"dtype":")",
                             tensor->type,
                             R"(","shape":[)",
                             join(tensor->shape, ","),
                             R"(],"data_offsets":[)",
                             begin,
                             ",",
                             end,
                             "]}"));
    begin = end;
  }
  std::string json = "{" + join(entries, ",") + "}";
  json.resize((json.size() + 7) / 8 * 8, ' ');
  std::string length;
  for (size_t byte = 0; byte < kLengthBytes; ++byte) {
    length += static_cast<char>(json.size() >> (8 * byte) & 0xff);
  }
  return length + json;
}

/// A file under a name of its own, which a run that died may have left.
Result<OutputFile> create_beside(const std::string& target) {
  const std::string path = concat(target, ".tmp.", ::getpid());
  ::unlink(path.c_str());
  return OutputFile::create(path, target);
}

}  // namespace

Result<void> write_safetensors(const std::string& path,
                               std::span<const TensorToWrite> tensors,
                               const std::map<std::string, std::string>& metadata) {
  const std::vector<const TensorToWrite*> order = in_file_order(tensors);
  std::string header;
  try {
    header = header_of(order, metadata);
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kData, concat(path, ": a name is not UTF-8: ", error.what()));
  }
  if (header.size() - kLengthBytes > kMaxHeaderBytes) {
    return fail(ErrorCode::kData,
                concat(path,
                       ": expected a header of at most ",
                       kMaxHeaderBytes,
                       " bytes; it would have ",
                       header.size() - kLengthBytes));
  }
  Result<OutputFile> file = create_beside(path);
  if (!file) {
    return fail(file.error());
  }
  Result<void> result = file->write(header);
  for (const TensorToWrite* tensor : order) {
    if (result) {
      result = file->write(tensor->bytes);
    }
  }
  return result ? file->finish_as(path) : result;
}

}  // namespace brigade::checkpoint
