// SPDX-License-Identifier: Apache-2.0
/// The header of a safetensors file that is yet to be written: which entry comes where.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/checkpoint/element_type.h"

namespace brigade::checkpoint {

struct EntryToWrite {
  std::string name;
  ElementType type = ElementType::kF32;
  std::vector<uint64_t> shape;
  uint64_t bytes = 0;
};

/// The format's own order: widest type first, then by name. So each entry is aligned to its
/// elements.
bool comes_before(const EntryToWrite& a, const EntryToWrite& b);

/// Length and JSON, padded with spaces to a multiple of 8: what a file begins with. `entries` are
/// in order, their names unique.
/// Errors: kData when a name is not UTF-8, or the header is too large to be read. The text begins
/// where the file's name ends.
Result<std::string> safetensors_header(std::span<const EntryToWrite> entries,
                                       const std::map<std::string, std::string>& metadata);

}  // namespace brigade::checkpoint
