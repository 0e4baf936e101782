// SPDX-License-Identifier: Apache-2.0
/// fp32 numbers as weights are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "trainer/checkpoint/element_type.h"

namespace brigade::checkpoint {

/// IEEE half precision, rounded to the nearest, ties to even; what is too large becomes infinite,
/// NaN stays NaN.
uint16_t float_to_f16(float value);

/// Needs F32, BF16 or F16, and `out` of exactly the bytes.
void encode(std::span<const float> values, ElementType type, std::span<std::byte> out);

}  // namespace brigade::checkpoint
