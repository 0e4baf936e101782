// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/element_type.h"

#include <algorithm>
#include <array>

#include "parallel/base/check.h"

namespace brigade::checkpoint {
namespace {

struct Row {
  std::string_view name;
  uint64_t bits;
};

/// In the order of the enum.
constexpr std::array<Row, 22> kRows = {{
    {"BOOL", 8},        {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
    {"I8", 8},          {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
    {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
    {"I32", 32},        {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},
    {"I64", 64},        {"U64", 64},
}};

const Row& row_of(ElementType type) {
  const auto index = static_cast<size_t>(type);
  BRIGADE_CHECK(index < kRows.size(), index);
  return kRows[index];
}

constexpr std::array<std::pair<ElementType, DType>, 7> kOurs = {{
    {ElementType::kF32, DType::kFloat32},
    {ElementType::kBF16, DType::kBFloat16},
    {ElementType::kF64, DType::kFloat64},
    {ElementType::kI64, DType::kInt64},
    {ElementType::kI32, DType::kInt32},
    {ElementType::kU8, DType::kUInt8},
    {ElementType::kBool, DType::kBool},
}};

}  // namespace

uint64_t bits_of(ElementType type) {
  return row_of(type).bits;
}

uint64_t byte_count(ElementType type, int64_t elements) {
  return static_cast<uint64_t>(elements) * bits_of(type) / 8;
}

std::string_view to_string(ElementType type) {
  return row_of(type).name;
}

std::optional<ElementType> parse_element_type(std::string_view name) {
  const auto found =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& row) { return row.name == name; });
  if (found == kRows.end()) {
    return std::nullopt;
  }
  return static_cast<ElementType>(found - kRows.begin());
}

std::ostream& operator<<(std::ostream& out, ElementType type) {
  return out << to_string(type);
}

std::optional<DType> dtype_of(ElementType type) {
  const auto found = std::find_if(
      kOurs.begin(), kOurs.end(), [&](const auto& pair) { return pair.first == type; });
  return found == kOurs.end() ? std::nullopt : std::optional(found->second);
}

ElementType element_type_of(DType dtype) {
  const auto found = std::find_if(
      kOurs.begin(), kOurs.end(), [&](const auto& pair) { return pair.second == dtype; });
  BRIGADE_CHECK(found != kOurs.end(), dtype);
  return found->first;
}

}  // namespace brigade::checkpoint
