// SPDX-License-Identifier: Apache-2.0
/// The header of a safetensors file: names, types, shapes, byte ranges; read strictly.
///
/// File: 8 bytes little endian, the length of the header; the header, JSON; one buffer to the end
/// of the file. Format: github.com/huggingface/safetensors. Accepted beyond the letter: white space
/// before the first brace, a header that is not padded. Refused: what its own checks refuse, keys
/// given twice, and keys that the format does not have.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "parallel/base/result.h"
#include "trainer/checkpoint/element_type.h"

namespace brigade::checkpoint {

inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;
inline constexpr size_t kLengthBytes = 8;
inline constexpr const char* kMetadataKey = "__metadata__";

struct TensorInfo {
  ElementType type = ElementType::kF32;
  std::vector<uint64_t> shape;  ///< empty for a scalar
  uint64_t begin = 0;           ///< in the buffer
  uint64_t end = 0;

  bool operator==(const TensorInfo&) const = default;
};

struct SafetensorsHeader {
  std::map<std::string, TensorInfo, std::less<>> tensors;
  std::map<std::string, std::string> metadata;
  uint64_t buffer_begin = 0;  ///< in the file

  bool operator==(const SafetensorsHeader&) const = default;
};

/// Reads and checks the header of a whole file: the ranges of the tensors are their shapes' sizes
/// and cover the buffer without hole, overlap or rest. `name` stands in front of every message.
/// Errors: kData naming file and, where one is to blame, tensor.
Result<SafetensorsHeader> parse_safetensors_header(std::span<const std::byte> file,
                                                   const std::string& name);

}  // namespace brigade::checkpoint
