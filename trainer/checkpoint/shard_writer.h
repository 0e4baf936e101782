// SPDX-License-Identifier: Apache-2.0
/// write_shard: one rank's boxes into one safetensors file, straight from where they lie.
///
///   Result<Manifest> record = write_shard(staging, "rank-00003.safetensors", 3, boxes);
///
/// Checksums are taken as the bytes go by. Extra memory: the header and its record, and a block
/// where
/// the stored type is another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/sharding/interval.h"
#include "trainer/checkpoint/element_type.h"
#include "trainer/checkpoint/manifest.h"

namespace brigade::checkpoint {

/// A box of a tensor in memory.
struct StateBox {
  std::string name;                      ///< of the tensor
  ElementType type = ElementType::kF32;  ///< in memory
  sharding::Shape shape;                 ///< of the whole tensor
  sharding::Box box;
  std::span<const std::byte> bytes;  ///< borrowed; row-major, little endian
  /// In the file, if not as in memory: of F32, BF16 or F16, rounded as they are written.
  std::optional<ElementType> stored_as = {};
};

/// In memory.
uint64_t byte_count(std::span<const StateBox> boxes);

/// Writes `folder`/`file` and flushes it to the disk. The folder's entry is not flushed: who
/// publishes the folder does. A failed file is removed. A tensor's boxes are at most one here.
/// Returns what to say of it in a manifest: files and tensors.
/// Errors: kIo naming the file, with the system's words.
Result<Manifest> write_shard(const std::string& folder,
                             const std::string& file,
                             int64_t rank,
                             std::span<const StateBox> boxes);

/// "rank-00003.safetensors".
std::string shard_name(int64_t rank);

}  // namespace brigade::checkpoint
