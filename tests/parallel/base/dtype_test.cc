// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/dtype.h"

#include <sstream>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/base/check.h"

namespace brigade {
namespace {

struct Row {
  DType dtype;
  int64_t bytes;
  const char* name;
};

TEST(DType, HasTheSizeAndTheNameThatSafetensorsAndTypesUse) {
  const std::vector<Row> rows = {{DType::kFloat32, 4, "f32"},
                                 {DType::kBFloat16, 2, "bf16"},
                                 {DType::kFloat64, 8, "f64"},
                                 {DType::kInt64, 8, "i64"},
                                 {DType::kInt32, 4, "i32"},
                                 {DType::kUInt8, 1, "u8"},
                                 {DType::kBool, 1, "bool"}};
  for (const Row& row : rows) {
    EXPECT_EQ(size_of(row.dtype), row.bytes) << row.name;
    EXPECT_EQ(to_string(row.dtype), row.name);
    std::ostringstream out;
    out << row.dtype;
    EXPECT_EQ(out.str(), row.name);
  }
}

TEST(DType, RefusesABytePatternThatIsNoType) {
  EXPECT_THROW(size_of(static_cast<DType>(200)), CheckFailure);
  EXPECT_THROW(to_string(static_cast<DType>(200)), CheckFailure);
}

}  // namespace
}  // namespace brigade
