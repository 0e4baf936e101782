// SPDX-License-Identifier: Apache-2.0
/// SafetensorsFile: the tensors of a safetensors file, mapped, not read.
///
///   auto file = SafetensorsFile::open("model.safetensors");
///   auto weight = file->tensor("lm_head.weight");       // Result: names the nearest when missing
///   file->read_box(*weight, box, bytes_of_my_shard);    // a rank copies its own part alone
///
/// Everything that can be wrong with the format is found by open() (safetensors_header.h); after it
/// every range lies in the file. Writers replace files by rename, so a mapped one does not change
/// under us.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "parallel/base/result.h"
#include "parallel/sharding/interval.h"
#include "trainer/checkpoint/safetensors_header.h"

namespace brigade::checkpoint {

/// Valid as long as its file.
struct TensorView {
  std::string_view name;
  ElementType type = ElementType::kF32;
  std::span<const uint64_t> shape;
  /// Row-major, little endian. Aligned to nothing: some writers do not pad their header. Look at
  /// is_aligned() before reading elements in place, else copy.
  std::span<const std::byte> bytes;

  /// Whether elements can be read in place.
  bool is_aligned() const;
};

/// Thread safety: const calls, safe.
class SafetensorsFile {
 public:
  /// Errors: kIo when the file cannot be opened or mapped; kData when it is not valid.
  static Result<SafetensorsFile> open(const std::string& path);

  SafetensorsFile(SafetensorsFile&& other) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&& other) noexcept;
  ~SafetensorsFile();

  const std::string& path() const { return path_; }
  const SafetensorsHeader& header() const { return header_; }

  /// Errors: kData naming the file and the nearest name that it has.
  Result<TensorView> tensor(std::string_view name) const;

  /// Copies the elements of `box` to `out`, row-major. Needs a view of this file, a box within its
  /// shape and `out` of exactly the box's bytes.
  /// Errors: kData for elements narrower than a byte.
  Result<void> read_box(const TensorView& view,
                        const sharding::Box& box,
                        std::span<std::byte> out) const;

  /// Gives back the memory that pages of a view take after they were read; a later look reads them
  /// from the disk again.
  void forget(const TensorView& view) const;

 private:
  SafetensorsFile(std::string path, std::span<const std::byte> mapped, SafetensorsHeader header);

  std::string path_;
  std::span<const std::byte> mapped_;
  SafetensorsHeader header_;
};

}  // namespace brigade::checkpoint
