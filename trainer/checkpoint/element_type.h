// SPDX-License-Identifier: Apache-2.0
/// ElementType: every dtype that a safetensors file may name, also those that nothing here computes
/// with.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>

#include "parallel/base/dtype.h"

namespace brigade::checkpoint {

/// In the format's order, narrow to wide; writers sort by it.
enum class ElementType : uint8_t {
  kBool,
  kF4,
  kF6E2M3,
  kF6E3M2,
  kU8,
  kI8,
  kF8E5M2,
  kF8E4M3,
  kF8E8M0,
  kF8E4M3Fnuz,
  kF8E5M2Fnuz,
  kI16,
  kU16,
  kF16,
  kBF16,
  kI32,
  kU32,
  kF32,
  kC64,
  kF64,
  kI64,
  kU64,
};

/// Bits of one element: 4 to 64.
uint64_t bits_of(ElementType type);

/// Of so many elements; of types narrower than a byte rounded down.
uint64_t byte_count(ElementType type, int64_t elements);

/// As the files spell it: "F32", "BF16", "F8_E4M3", ...
std::string_view to_string(ElementType type);
std::optional<ElementType> parse_element_type(std::string_view name);

std::ostream& operator<<(std::ostream& out, ElementType type);

/// The type that tensors of ours have, where there is one.
std::optional<DType> dtype_of(ElementType type);
ElementType element_type_of(DType dtype);

}  // namespace brigade::checkpoint
