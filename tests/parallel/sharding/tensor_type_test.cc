// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/tensor_type.h"

#include <string>
#include <unordered_set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/parallel/sharding/spelled.h"

namespace brigade::sharding {
namespace {

using ::testing::HasSubstr;

std::string parse_error(const std::string& text) {
  const Result<TensorType> type = TensorType::parse(text);
  EXPECT_FALSE(type.has_value()) << type->to_string();
  return type ? "" : type.error().text;
}

TEST(TensorType, PrintsElementTypeShapeAndSpec) {
  const TensorType type{
      DType::kFloat32, {8, 4, 3}, PartitionSpec({{"x"}, {"y", "z"}, {}}).with_unreduced({"w"})};
  EXPECT_EQ(type.to_string(), "f32[8@x,4@(y,z),3]{U:w}");
  EXPECT_EQ((TensorType{DType::kInt64, {}, PartitionSpec()}).to_string(), "i64[]");
}

TEST(TensorType, PrintsSetsInMeshOrderWithAMesh) {
  const TensorType type = sharding::type("2{U:a,c, R:b}");
  EXPECT_EQ(type.to_string(), "f32[2]{U:a,c, R:b}");
  EXPECT_EQ(type.to_string(mesh_of("c2,b2,a2")), "f32[2]{U:c,a, R:b}");
}

TEST(TensorType, ReadsWhatItPrints) {
  for (const std::string text : {"f32[]",
                                 "bf16[8]",
                                 "f64[8@x,4@(y,z)]{U:w}",
                                 "i64[0@x]",
                                 "u8[2,3]{R:a,b}",
                                 "bool[2,3]{U:c, R:a,b}"}) {
    EXPECT_EQ(value_or_throw(TensorType::parse(text)).to_string(), text);
  }
}

TEST(TensorType, SaysWhereATextIsWrong) {
  EXPECT_THAT(parse_error("f16[2]"), HasSubstr("expected an element type"));
  EXPECT_EQ(parse_error("f32[x]"), "expected the size of a dim, found 'x' at position 5 of f32[x]");
  EXPECT_THAT(parse_error("f32[-1]"), HasSubstr("expected the size of a dim"));
  EXPECT_THAT(parse_error("f32[2@]"), HasSubstr("expected the name of an axis, found ']'"));
  EXPECT_THAT(parse_error("f32[2@(x,y]"), HasSubstr("expected , or )"));
  EXPECT_THAT(parse_error("f32[2"), HasSubstr("expected , or ], found the end"));
  EXPECT_THAT(parse_error("f32[2]]"), HasSubstr("expected the end"));
}

TEST(TensorType, HashesDifferentTypesApart) {
  std::unordered_set<size_t> hashes;
  for (const std::string text : {"2,4", "4,2", "8", "2@x,4", "2,4@x", "2,4{R:x}", "2,4{U:x}"}) {
    hashes.insert(type(text).hash());
    EXPECT_EQ(type(text).hash(), type(text).hash());
    EXPECT_EQ(type(text), type(text));
  }
  EXPECT_EQ(hashes.size(), 7U);
}

}  // namespace
}  // namespace brigade::sharding
