// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/shard_writer.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <utility>

#include "parallel/base/check.h"
#include "parallel/base/crc32c.h"
#include "parallel/base/text.h"
#include "trainer/checkpoint/convert_elements.h"
#include "trainer/checkpoint/output_file.h"
#include "trainer/checkpoint/safetensors_header_writer.h"

namespace brigade::checkpoint {
namespace {

struct Entry {
  const StateBox* box;
  EntryToWrite header;
};

ElementType stored_type(const StateBox& box) {
  return box.stored_as.value_or(box.type);
}

uint64_t stored_bytes(const StateBox& box) {
  return byte_count(stored_type(box), box.box.element_count());
}

std::vector<Entry> in_file_order(std::span<const StateBox> boxes) {
  std::vector<Entry> entries;
  std::set<std::string_view> names;
  std::set<std::string> called;
  for (const StateBox& box : boxes) {
    BRIGADE_CHECK(names.insert(box.name).second, box.name);
    const uint64_t held = byte_count(box.type, box.box.element_count());
    BRIGADE_CHECK(box.bytes.size() == held, box.name, box.bytes.size(), held);
    BRIGADE_CHECK(stored_type(box) == box.type || box.type == ElementType::kF32, box.name);
    const sharding::Shape shape = box.box.shape();
    const std::string entry = entry_name(box.name, box.shape, box.box);
    BRIGADE_CHECK(called.insert(entry).second, entry);
    entries.push_back(
        {&box, {entry, stored_type(box), {shape.begin(), shape.end()}, stored_bytes(box)}});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return comes_before(a.header, b.header);
  });
  return entries;
}

/// Takes the checksum of each block on its way to the file.
class BlockWriter {
 public:
  explicit BlockWriter(OutputFile& file) : file_(file) {}

  Result<void> write(const StateBox& box, std::vector<uint32_t>& checksums) {
    const ElementType type = stored_type(box);
    const uint64_t block = kBlockBytes * bits_of(box.type) / bits_of(type);  // in memory
    for (uint64_t begin = 0; begin < box.bytes.size(); begin += block) {
      const std::span<const std::byte> bytes =
          as_stored(box, box.bytes.subspan(begin, std::min(block, box.bytes.size() - begin)));
      checksums.push_back(crc32c(bytes));
      if (Result<void> written = file_.write(bytes); !written) {
        return written;
      }
    }
    return {};
  }

 private:
  std::span<const std::byte> as_stored(const StateBox& box, std::span<const std::byte> bytes) {
    if (stored_type(box) == box.type) {
      return bytes;
    }
    floats_.resize(bytes.size() / sizeof(float));
    widen(bytes, ElementType::kF32, floats_);
    converted_.resize(floats_.size() * bits_of(stored_type(box)) / 8);
    narrow(floats_, stored_type(box), converted_);
    return converted_;
  }

  OutputFile& file_;
  std::vector<float> floats_;
  std::vector<std::byte> converted_;
};

}  // namespace

uint64_t byte_count(std::span<const StateBox> boxes) {
  uint64_t bytes = 0;
  for (const StateBox& box : boxes) {
    bytes += box.bytes.size();
  }
  return bytes;
}

std::string shard_name(int64_t rank) {
  std::array<char, 64> text = {};
  std::snprintf(text.data(), text.size(), "rank-%05lld.safetensors", static_cast<long long>(rank));
  return text.data();
}

Result<Manifest> write_shard(const std::string& folder,
                             const std::string& file,
                             int64_t rank,
                             std::span<const StateBox> boxes) {
  const std::string path = concat(folder, "/", file);
  const std::vector<Entry> entries = in_file_order(boxes);
  std::vector<EntryToWrite> headers;
  for (const Entry& entry : entries) {
    headers.push_back(entry.header);
  }
  const Result<std::string> header = safetensors_header(headers, {{"format", "pt"}});
  if (!header) {
    return fail(ErrorCode::kData, concat(path, ": ", header.error().text));
  }
  Result<OutputFile> out = OutputFile::create(path);
  if (!out) {
    return fail(out.error());
  }
  const auto header_bytes = std::as_bytes(std::span(*header));
  if (Result<void> written = out->write(header_bytes); !written) {
    return fail(written.error());
  }
  Manifest record;
  uint64_t offset = header_bytes.size();
  BlockWriter blocks(*out);
  for (const auto& [box, entry] : entries) {
    ManifestBox placed;
    placed.box = box->box;
    placed.offset = offset;
    if (Result<void> written = blocks.write(*box, placed.crc32c); !written) {
      return fail(written.error());
    }
    offset += entry.bytes;
    record.tensors[box->name] = {entry.type, box->shape, {std::move(placed)}};
  }
  if (Result<void> finished = out->finish(); !finished) {
    return fail(finished.error());
  }
  record.files = {{file, rank, offset, header_bytes.size(), crc32c(header_bytes)}};
  return record;
}

}  // namespace brigade::checkpoint
