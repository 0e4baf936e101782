// SPDX-License-Identifier: Apache-2.0
/// BlockReader: bytes of one box in a file, none of which is passed on before the checksum of its
/// block was compared. Internal to the module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/checkpoint/input_file.h"
#include "trainer/checkpoint/manifest.h"

namespace brigade::checkpoint {

class BlockReader {
 public:
  /// All but `what` are borrowed. `what` names tensor and box in messages; `scratch` is grown to
  /// one block where pieces of blocks are asked for.
  BlockReader(const InputFile& file,
              const ManifestBox& box,
              uint64_t bytes,
              uint64_t block_bytes,
              std::string what,
              std::vector<std::byte>& scratch);

  /// Copies bytes [from, from + out.size()) of the box. Whole blocks go to `out` in one read; a
  /// block that was read for a piece of it is not read again for the next.
  /// Errors: kIo; kData naming file, tensor, box and block.
  Result<void> copy(uint64_t from, std::span<std::byte> out);

  uint64_t bytes_read() const { return bytes_read_; }

 private:
  uint64_t size_of(uint64_t block) const;
  Result<void> read_whole(uint64_t first_block, std::span<std::byte> out);
  Result<void> read_block(uint64_t block, std::span<std::byte> out);
  Result<void> load(uint64_t block);

  const InputFile& file_;
  const ManifestBox& box_;
  const uint64_t bytes_;
  const uint64_t block_bytes_;
  const std::string what_;
  std::vector<std::byte>& scratch_;
  uint64_t loaded_;  // the block in scratch_; past the last: none
  uint64_t bytes_read_ = 0;
};

}  // namespace brigade::checkpoint
