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

namespace brigade::collective {

class ScratchPool {
 public:
  /// Also the piece in which operations move long streams. A multiple of every element's size.
  static constexpr int64_t kBlockBytes = int64_t{256} << 10;
  static constexpr size_t kKeptBlocks = 256;  // 64 MiB

  struct Block {
    struct Free {
      void operator()(std::byte* bytes) const noexcept;
    };
    std::unique_ptr<std::byte[], Free> bytes;
  };

  Block take();
  void give(Block block);

 private:
  std::vector<Block> free_;
};

}  // namespace brigade::collective
