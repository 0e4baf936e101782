// SPDX-License-Identifier: Apache-2.0
/// Manifest: what a checkpoint holds, and where each byte of it lies. docs/CHECKPOINT_FORMAT.md.
///
/// The record that one rank makes of its shard file is a manifest too, of one file; merge() joins
/// them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/base/result.h"
#include "parallel/sharding/interval.h"
#include "trainer/checkpoint/element_type.h"

namespace brigade::checkpoint {

inline constexpr int64_t kFormatVersion = 1;
inline constexpr const char* kManifestName = "manifest.json";
inline constexpr uint64_t kBlockBytes = 256 * 1024;

struct ManifestBox {
  sharding::Box box;
  size_t file = 0;               ///< into Manifest::files
  uint64_t offset = 0;           ///< of its first byte in the file
  std::vector<uint32_t> crc32c;  ///< per block of block_bytes

  bool operator==(const ManifestBox&) const = default;
};

struct ManifestTensor {
  ElementType type = ElementType::kF32;
  sharding::Shape shape;
  std::vector<ManifestBox> boxes;

  bool operator==(const ManifestTensor&) const = default;
};

struct ManifestFile {
  std::string name;
  int64_t rank = 0;  ///< that wrote it
  uint64_t bytes = 0;
  uint64_t header_bytes = 0;
  uint32_t header_crc32c = 0;

  bool operator==(const ManifestFile&) const = default;
};

struct Counters {
  int64_t step = 0;
  int64_t samples = 0;
  int64_t tokens = 0;
  int64_t updates = 0;
  int64_t skips_in_a_row = 0;

  bool operator==(const Counters&) const = default;
};

struct MeshAxis {
  std::string name;
  int64_t size = 1;

  bool operator==(const MeshAxis&) const = default;
};

struct Manifest {
  std::string run;
  std::string saved_at;
  bool model_only = false;
  Counters counters;
  std::map<std::string, std::string> recipe;
  std::string recipe_hash;
  std::map<std::string, std::string> facts;
  std::vector<MeshAxis> mesh;
  uint64_t block_bytes = kBlockBytes;
  std::vector<ManifestFile> files;
  std::map<std::string, ManifestTensor, std::less<>> tensors;

  bool operator==(const Manifest&) const = default;
};

/// For Manifest::run: 16 hexadecimal digits that nobody has had.
std::string new_run();

/// The file's text, frame and checksum included.
std::string to_json(const Manifest& manifest);

/// Reads and checks all that the page says of a manifest's text; files are not looked at. `name`
/// stands in front of every message. `whole`: whether the boxes have to cover their tensors (a
/// rank's own record does not).
/// Errors: kData naming what is wrong, tensor and box where one is to blame.
Result<Manifest> parse_manifest(std::string_view text, const std::string& name, bool whole = true);

/// `head` with the files and tensors of all `parts`.
/// Errors: kData naming the tensor on whose type or shape two parts differ, or whose boxes overlap
/// or leave a hole.
Result<Manifest> merge(Manifest head, std::span<const Manifest> parts);

/// Whether the boxes of each tensor cover it exactly once.
/// Errors: kData naming the first tensor of which they do not, and where.
/// Cost: boxes x log(boxes) where the boxes are a grid's.
Result<void> check_coverage(const Manifest& manifest);

/// "[48:97,0:32]".
std::string to_string(const sharding::Box& box);

/// As a shard file calls a box: the tensor's name, with the ranges where it is a part.
std::string entry_name(std::string_view tensor,
                       const sharding::Shape& shape,
                       const sharding::Box& box);

}  // namespace brigade::checkpoint
