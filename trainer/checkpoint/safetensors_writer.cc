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

uint64_t bytes_of(const TensorPlan& tensor) {
  uint64_t bits = bits_of(tensor.type);
  for (const uint64_t size : tensor.shape) {
    bits *= size;
  }
  BRIGADE_CHECK(bits % 8 == 0, tensor.name, tensor.type, bits);
  return bits / 8;
}

std::vector<const TensorPlan*> in_file_order(std::span<const TensorPlan> tensors) {
  std::vector<const TensorPlan*> order;
  std::set<std::string_view> names = {kMetadataKey};
  for (const TensorPlan& tensor : tensors) {
    BRIGADE_CHECK(names.insert(tensor.name).second, tensor.name);
    order.push_back(&tensor);
  }
  std::sort(order.begin(), order.end(), [](const TensorPlan* a, const TensorPlan* b) {
    return a->type != b->type ? a->type > b->type : a->name < b->name;
  });
  return order;
}

/// The length and the padded header. Throws where a name is not UTF-8.
std::string header_of(const std::vector<const TensorPlan*>& order,
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
  for (const TensorPlan* tensor : order) {
    const uint64_t end = begin + bytes_of(*tensor);
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

/// Writes one tensor as it is produced.
Result<void> write_tensor(OutputFile& file,
                          const TensorPlan& tensor,
                          const ProduceTensor& produce) {
  uint64_t written = 0;
  const Result<void> done =
      produce(tensor, [&file, &written](std::span<const std::byte> bytes) -> Result<void> {
        written += bytes.size();
        return file.write(bytes);
      });
  BRIGADE_CHECK(!done || written == bytes_of(tensor), tensor.name, written, bytes_of(tensor));
  return done;
}

}  // namespace

Result<void> write_safetensors(const std::string& path,
                               std::span<const TensorToWrite> tensors,
                               const std::map<std::string, std::string>& metadata) {
  std::vector<TensorPlan> plans;
  std::map<std::string_view, std::span<const std::byte>> bytes;
  for (const TensorToWrite& tensor : tensors) {
    plans.push_back({tensor.name, tensor.type, tensor.shape});
    bytes.emplace(tensor.name, tensor.bytes);
  }
  return stream_safetensors(
      path,
      plans,
      [&bytes](const TensorPlan& plan, const AppendBytes& append) {
        return append(bytes.at(plan.name));
      },
      metadata);
}

Result<void> stream_safetensors(const std::string& path,
                                std::span<const TensorPlan> tensors,
                                const ProduceTensor& produce,
                                const std::map<std::string, std::string>& metadata) {
  const std::vector<const TensorPlan*> order = in_file_order(tensors);
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
  for (const TensorPlan* tensor : order) {
    if (result) {
      result = write_tensor(*file, *tensor, produce);
    }
  }
  return result ? file->finish_as(path) : result;
}

}  // namespace brigade::checkpoint
