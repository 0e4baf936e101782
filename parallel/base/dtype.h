// SPDX-License-Identifier: Apache-2.0
/// Element types of tensors and messages, named as safetensors and types print them.
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>

namespace brigade {

enum class DType : uint8_t { kFloat32, kBFloat16, kFloat64, kInt64, kInt32, kUInt8, kBool };

/// Bytes of one element.
int64_t size_of(DType dtype);

/// Those that gradients are made of.
bool is_float(DType dtype);

/// "f32", "bf16", "f64", "i64", "i32", "u8", "bool".
std::string_view to_string(DType dtype);

std::ostream& operator<<(std::ostream& out, DType dtype);

}  // namespace brigade
