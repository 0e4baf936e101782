// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/block_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "parallel/base/crc32c.h"
#include "parallel/base/text.h"

namespace brigade::checkpoint {

BlockReader::BlockReader(const InputFile& file,
                         const ManifestBox& box,
                         uint64_t bytes,
                         uint64_t block_bytes,
                         std::string what,
                         std::vector<std::byte>& scratch)
    : file_(file),
      box_(box),
      bytes_(bytes),
      block_bytes_(block_bytes),
      what_(std::move(what)),
      scratch_(scratch),
      loaded_(box.crc32c.size()) {}

uint64_t BlockReader::size_of(uint64_t block) const {
  return std::min(block_bytes_, bytes_ - block * block_bytes_);
}

Result<void> BlockReader::copy(uint64_t from, std::span<std::byte> out) {
  while (!out.empty()) {
    const uint64_t block = from / block_bytes_;
    const uint64_t skipped = from % block_bytes_;
    uint64_t taken = 0;
    if (skipped == 0 && out.size() >= size_of(block)) {
      const bool to_the_end = from + out.size() == bytes_;
      taken = to_the_end ? out.size() : out.size() / block_bytes_ * block_bytes_;
      if (Result<void> read = read_whole(block, out.first(taken)); !read) {
        return read;
      }
    } else {
      if (Result<void> read = load(block); !read) {
        return read;
      }
      taken = std::min<uint64_t>(out.size(), size_of(block) - skipped);
      std::memcpy(out.data(), scratch_.data() + skipped, taken);
    }
    from += taken;
    out = out.subspan(taken);
  }
  return {};
}

/// The checksum of a block is taken while it is in the processor's caches.
Result<void> BlockReader::read_whole(uint64_t first_block, std::span<std::byte> out) {
  for (uint64_t block = first_block; !out.empty(); ++block) {
    const std::span<std::byte> bytes = out.first(size_of(block));
    if (Result<void> read = read_block(block, bytes); !read) {
      return read;
    }
    out = out.subspan(bytes.size());
  }
  return {};
}

Result<void> BlockReader::read_block(uint64_t block, std::span<std::byte> out) {
  const uint64_t offset = box_.offset + block * block_bytes_;
  if (Result<void> read = file_.read(offset, out); !read) {
    return fail(read.error().code, concat(read.error().text, ": ", what_));
  }
  bytes_read_ += out.size();
  if (crc32c(out) == box_.crc32c[block]) {
    return {};
  }
  return fail(ErrorCode::kData,
              concat(file_.path(),
                     ": ",
                     what_,
                     " is damaged: the checksum of block ",
                     block,
                     " of ",
                     box_.crc32c.size(),
                     " (bytes ",
                     offset,
                     " to ",
                     offset + out.size(),
                     ") is not that of the manifest"));
}

Result<void> BlockReader::load(uint64_t block) {
  if (block == loaded_) {
    return {};
  }
  loaded_ = box_.crc32c.size();
  scratch_.resize(std::max<size_t>(scratch_.size(), size_of(block)));
  Result<void> read = read_whole(block, std::span(scratch_).first(size_of(block)));
  if (read) {
    loaded_ = block;
  }
  return read;
}

}  // namespace brigade::checkpoint
