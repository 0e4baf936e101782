// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/dtype.h"

#include "parallel/base/check.h"

namespace brigade {

int64_t size_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return 4;
    case DType::kBFloat16: return 2;
    case DType::kFloat64: return 8;
    case DType::kInt64: return 8;
    case DType::kInt32: return 4;
    case DType::kUInt8: return 1;
    case DType::kBool: return 1;
  }
  BRIGADE_CHECK(false, static_cast<int>(dtype));
}

bool is_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kBFloat16 || dtype == DType::kFloat64;
}

std::string_view to_string(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return "f32";
    case DType::kBFloat16: return "bf16";
    case DType::kFloat64: return "f64";
    case DType::kInt64: return "i64";
    case DType::kInt32: return "i32";
    case DType::kUInt8: return "u8";
    case DType::kBool: return "bool";
  }
  BRIGADE_CHECK(false, static_cast<int>(dtype));
}

std::ostream& operator<<(std::ostream& out, DType dtype) {
  return out << to_string(dtype);
}

}  // namespace brigade
