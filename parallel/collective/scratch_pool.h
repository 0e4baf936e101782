// SPDX-License-Identifier: Apache-2.0
/// ScratchPool: blocks for terms that wait to be joined. Blocks are reused, most recently used
/// first, so that their pages stay mapped and warm.
///
/// Thread safety: unsafe; the engine's lock guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "parallel/transport/buffer_count.h"

namespace brigade::collective {

class ScratchPool {
 public:
  /// `count`, which outlives all blocks, counts those in use and those kept.
  explicit ScratchPool(transport::BufferCount& count) : count_(count) {}

  /// Also the piece in which operations move long streams. A multiple of every element's size.
  static constexpr int64_t kBlockBytes = int64_t{256} << 10;
  static constexpr size_t kKeptBlocks = 256;  // 64 MiB

  struct Block {
    struct Free {
      Free() noexcept : count(nullptr) {}
      explicit Free(transport::BufferCount& counted) noexcept : count(&counted) {}
      void operator()(std::byte* bytes) const noexcept;

      transport::BufferCount* count;
    };
    std::unique_ptr<std::byte[], Free> bytes;
  };

  Block take();
  void give(Block block);

 private:
  transport::BufferCount& count_;
  std::vector<Block> free_;
};

}  // namespace brigade::collective
