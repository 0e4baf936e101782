// SPDX-License-Identifier: Apache-2.0
/// Writes a safetensors file, byte for byte as the format's own library would.
///
///   write_safetensors(path, {{"weight", ElementType::kF32, {2, 3}, bytes}}, {{"format", "pt"}});
///
/// Tensors are sorted by dtype from wide to narrow, then by name, so each is aligned to its
/// elements; the header is padded with spaces to a multiple of 8. The file appears whole or not at
/// all: it is written under another name in the same folder, flushed to the disk and renamed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/checkpoint/element_type.h"

namespace brigade::checkpoint {

struct TensorToWrite {
  std::string name;
  ElementType type = ElementType::kF32;
  std::vector<uint64_t> shape;
  std::span<const std::byte> bytes;  ///< borrowed; row-major, little endian
};

/// Names are unique and not "__metadata__"; bytes are the shape's. Replaces a file of that name.
/// Errors: kIo with the path; kData when a name is not UTF-8 or the header is too large to be read.
/// On failure the target is untouched, unless it was only the folder that could not be flushed, and
/// nothing else is left in the folder.
Result<void> write_safetensors(const std::string& path,
                               std::span<const TensorToWrite> tensors,
                               const std::map<std::string, std::string>& metadata = {});

struct TensorPlan {
  std::string name;
  ElementType type = ElementType::kF32;
  std::vector<uint64_t> shape;
};

/// Takes the next bytes of a tensor.
using AppendBytes = std::function<Result<void>(std::span<const std::byte>)>;
/// Makes a tensor's bytes when its turn has come, in pieces as large as it likes; together they are
/// the shape's.
using ProduceTensor = std::function<Result<void>(const TensorPlan&, const AppendBytes&)>;

/// The same file, of tensors that need not be in memory, not even one at a time.
/// Errors: as above, and `produce`'s.
Result<void> stream_safetensors(const std::string& path,
                                std::span<const TensorPlan> tensors,
                                const ProduceTensor& produce,
                                const std::map<std::string, std::string>& metadata = {});

}  // namespace brigade::checkpoint
