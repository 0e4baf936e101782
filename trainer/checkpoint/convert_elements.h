// SPDX-License-Identifier: Apache-2.0
/// Elements of one type as those of another, where a file and the memory differ.
#pragma once

#include <cstddef>
#include <span>

#include "trainer/checkpoint/element_type.h"

namespace brigade::checkpoint {

/// Whether narrow() and widen() know the type: F32, BF16, F16, F64.
bool is_convertible(ElementType type);

/// `from` rounded to nearest even as elements of `type`; `to` has exactly their bytes.
void narrow(std::span<const float> from, ElementType type, std::span<std::byte> to);

/// The elements of `type` in `from` as fp32, those of F64 rounded; `from` needs no alignment.
void widen(std::span<const std::byte> from, ElementType type, std::span<float> to);

}  // namespace brigade::checkpoint
