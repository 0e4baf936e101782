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

uint64_t bytes_of(const TensorToWrite& tensor) {
  uint64_t bits = bits_of(tensor.type);
  for (const uint64_t size : tensor.shape) {
    bits *= size;
  }
  BRIGADE_CHECK(bits % 8 == 0, tensor.name, tensor.type, bits);
  return bits / 8;
}

struct Entry {
  EntryToWrite header;
  std::span<const std::byte> bytes;
};

std::vector<Entry> in_file_order(std::span<const TensorToWrite> tensors) {
  std::vector<Entry> entries;
  std::set<std::string_view> names = {kMetadataKey};
  for (const TensorToWrite& tensor : tensors) {
    BRIGADE_CHECK(names.insert(tensor.name).second, tensor.name);
    BRIGADE_CHECK(tensor.bytes.size() == bytes_of(tensor), tensor.name, tensor.bytes.size());
    entries.push_back(
        {{tensor.name, tensor.type, tensor.shape, tensor.bytes.size()}, tensor.bytes});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return comes_before(a.header, b.header);
  });
  return entries;
}

Result<void> write_all(OutputFile& file,
                       const std::string& header,
                       const std::vector<Entry>& entries) {
  Result<void> written = file.write(std::as_bytes(std::span(header)));
  for (const Entry& entry : entries) {
    if (written) {
      written = file.write(entry.bytes);
    }
  }
  return written;
}

}  // namespace

Result<void> write_safetensors(const std::string& path,
                               std::span<const TensorToWrite> tensors,
                               const std::map<std::string, std::string>& metadata) {
  const std::vector<Entry> entries = in_file_order(tensors);
  std::vector<EntryToWrite> headers;
  for (const Entry& entry : entries) {
    headers.push_back(entry.header);
  }
  const Result<std::string> header = safetensors_header(headers, metadata);
  if (!header) {
    return fail(ErrorCode::kData, concat(path, ": ", header.error().text));
  }
  Result<OutputFile> file = OutputFile::create(concat(path, ".tmp.", ::getpid()));
  if (!file) {
    return fail(file.error());
  }
  return write_all(*file, *header, entries)
      .and_then([&] { return file->finish_as(path); })
      .and_then([&] { return flush_folder(std::filesystem::path(path).parent_path().string()); });
}

}  // namespace brigade::checkpoint
