// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/safetensors_writer.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <unistd.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"
#include "trainer/checkpoint/output_file.h"
#include "trainer/checkpoint/safetensors_header.h"
#include "trainer/checkpoint/safetensors_header_writer.h"

namespace brigade::checkpoint {
namespace {

uint64_t bytes_of(const TensorPlan& tensor) {
  uint64_t bits = bits_of(tensor.type);
  for (const uint64_t size : tensor.shape) {
    bits *= size;
  }
  BRIGADE_CHECK(bits % 8 == 0, tensor.name, tensor.type, bits);
  return bits / 8;
}

std::vector<EntryToWrite> in_file_order(std::span<const TensorPlan> tensors) {
  std::vector<EntryToWrite> entries;
  std::set<std::string_view> names = {kMetadataKey};
  for (const TensorPlan& tensor : tensors) {
    BRIGADE_CHECK(names.insert(tensor.name).second, tensor.name);
    entries.push_back({tensor.name, tensor.type, tensor.shape, bytes_of(tensor)});
  }
  std::sort(entries.begin(), entries.end(), comes_before);
  return entries;
}

/// Writes one tensor as it is produced.
Result<void> write_tensor(OutputFile& file,
                          const EntryToWrite& entry,
                          const ProduceTensor& produce) {
  uint64_t written = 0;
  const Result<void> done = produce({entry.name, entry.type, entry.shape},
                                    [&](std::span<const std::byte> bytes) -> Result<void> {
                                      written += bytes.size();
                                      return file.write(bytes);
                                    });
  BRIGADE_CHECK(!done || written == entry.bytes, entry.name, written, entry.bytes);
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
  const std::vector<EntryToWrite> entries = in_file_order(tensors);
  const Result<std::string> header = safetensors_header(entries, metadata);
  if (!header) {
    return fail(ErrorCode::kData, concat(path, ": ", header.error().text));
  }
  Result<OutputFile> file = OutputFile::create(concat(path, ".tmp.", ::getpid()));
  if (!file) {
    return fail(file.error());
  }
  Result<void> written = file->write(std::as_bytes(std::span(*header)));
  for (const EntryToWrite& entry : entries) {
    if (written) {
      written = write_tensor(*file, entry, produce);
    }
  }
  if (!written) {
    return written;
  }
  return file->finish_as(path).and_then(
      [&] { return flush_folder(std::filesystem::path(path).parent_path().string()); });
}

}  // namespace brigade::checkpoint
