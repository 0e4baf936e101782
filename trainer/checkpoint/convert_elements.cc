// SPDX-License-Identifier: Apache-2.0
#include "trainer/checkpoint/convert_elements.h"

#include <cstring>

#include "parallel/base/bf16.h"
#include "parallel/base/check.h"

namespace brigade::checkpoint {
namespace {

/// Calls `write(i, bits)` or reads alike; both sides may be unaligned.
template <class Stored, class Convert>
void store_each(std::span<const float> from, std::span<std::byte> to, const Convert& convert) {
  BRIGADE_CHECK(to.size() == from.size() * sizeof(Stored), to.size(), from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    const Stored value = convert(from[i]);
    std::memcpy(to.data() + i * sizeof(Stored), &value, sizeof(Stored));
  }
}

template <class Stored, class Convert>
void load_each(std::span<const std::byte> from, std::span<float> to, const Convert& convert) {
  BRIGADE_CHECK(from.size() == to.size() * sizeof(Stored), from.size(), to.size());
  for (size_t i = 0; i < to.size(); ++i) {
    Stored value;
    std::memcpy(&value, from.data() + i * sizeof(Stored), sizeof(Stored));
    to[i] = convert(value);
  }
}

}  // namespace

bool is_convertible(ElementType type) {
  return type == ElementType::kF32 || type == ElementType::kBF16 || type == ElementType::kF16 ||
         type == ElementType::kF64;
}

void narrow(std::span<const float> from, ElementType type, std::span<std::byte> to) {
  switch (type) {
    case ElementType::kF32: store_each<float>(from, to, [](float x) { return x; }); return;
    case ElementType::kF64: store_each<double>(from, to, [](float x) { return double{x}; }); return;
    case ElementType::kBF16:
      store_each<uint16_t>(from, to, [](float x) { return float_to_bf16(x); });
      return;
    case ElementType::kF16:
      store_each<_Float16>(from, to, [](float x) { return static_cast<_Float16>(x); });
      return;
    default: BRIGADE_CHECK(is_convertible(type), type);
  }
}

void widen(std::span<const std::byte> from, ElementType type, std::span<float> to) {
  switch (type) {
    case ElementType::kF32: load_each<float>(from, to, [](float x) { return x; }); return;
    case ElementType::kF64:
      load_each<double>(from, to, [](double x) { return static_cast<float>(x); });
      return;
    case ElementType::kBF16:
      load_each<uint16_t>(from, to, [](uint16_t x) { return bf16_to_float(x); });
      return;
    case ElementType::kF16:
      load_each<_Float16>(from, to, [](_Float16 x) { return static_cast<float>(x); });
      return;
    default: BRIGADE_CHECK(is_convertible(type), type);
  }
}

}  // namespace brigade::checkpoint
