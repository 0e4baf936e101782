// SPDX-License-Identifier: Apache-2.0
#include "parallel/sharding/tensor_type.h"

#include <algorithm>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/parallel/sharding/random_specs.h"
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
                                 "bool[2,3]{U:c, R:a,b}",
                                 "f32[2@x]{Umax:y}",
                                 "bf16[2@x]{Umin:y,z, R:w}"}) {
    EXPECT_EQ(value_or_throw(TensorType::parse(text)).to_string(), text);
  }
}

TEST(TensorType, ReadsWhatItPrintsWhateverItIs) {
  const mesh::Mesh mesh = mesh_of("v2,w1,x2,y3,z2");
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    TensorType type{random() % 2 == 0 ? DType::kFloat32 : DType::kInt64, {}, PartitionSpec()};
    for (size_t rank = random() % 4; rank > 0; --rank) {
      type.global.push_back(static_cast<int64_t>(random() % 100));
    }
    type.spec = random_legal_spec(random, mesh, type.global.size());
    for (const std::string& text : {type.to_string(), type.to_string(mesh)}) {
      const Result<TensorType> read = TensorType::parse(text);
      ASSERT_TRUE(read) << "seed " << seed << ": " << read.error().text;
      ASSERT_EQ(*read, type) << "seed " << seed << ": " << text;
    }
  }
}

TEST(TensorType, NamesItselfBeforeWhatIsWrongWithItsSpec) {
  const auto error_of = [](const std::string& text) {
    const Result<void> legal = type(text).check(mesh_of("x2,y3"));
    return legal ? "" : legal.error().text;
  };
  EXPECT_EQ(error_of("8@x,4@y"), "");
  EXPECT_EQ(
      error_of("8,4@z"),
      "f32[8,4@z]: axis \"z\" of dim 1 in spec (None, \"z\") is not in the mesh x=2 x y=3; did "
      "you mean \"x\"?");
  EXPECT_EQ(
      error_of("8@x,4@(y,x)"),
      "f32[8@x,4@(y,x)]: axis \"x\" (size 2) is used twice in spec (\"x\", (\"y\", \"x\")), for "
      "dim 0 and for dim 1");
  EXPECT_EQ(error_of("8,4{Umax:y, R:y}"),
            "f32[8,4]{Umax:y, R:y}: axis \"y\" (size 3) is used twice in spec (){Umax:y, R:y}, for "
            "the unreduced set and for the reduced set");
  const Result<void> longer =
      TensorType{DType::kFloat32, {8, 4}, PartitionSpec({{}, {}, {"y"}})}.check(mesh_of("x2,y3"));
  ASSERT_FALSE(longer);
  EXPECT_EQ(
      longer.error().text,
      "f32[8,4]: spec (None, None, \"y\") splits dim 2 over y (3 parts), but the tensor has 2 "
      "dims");
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

TEST(TensorType, SpreadsHashesOfSimilarTypesOverASmallTable) {
  constexpr size_t kSlots = 4096;  // a power of two: only low bits choose
  std::vector<int> slots(kSlots);
  std::unordered_set<TensorType> types;
  for (int64_t rows = 0; rows < 64; ++rows) {
    for (int64_t columns = 0; columns < 64; ++columns) {
      const TensorType type{DType::kFloat32, {rows * 128, columns * 128}, PartitionSpec({{"x"}})};
      ++slots[type.hash() % kSlots];
      types.insert(type);
    }
  }
  EXPECT_EQ(types.size(), kSlots);
  // Of as many random throws as slots, 1/e of the slots stay empty, and a dozen in one is rare.
  EXPECT_LT(std::count(slots.begin(), slots.end(), 0), kSlots / 2);
  EXPECT_LT(*std::max_element(slots.begin(), slots.end()), 12);
}

}  // namespace
}  // namespace brigade::sharding
