// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/checkpoint/manifest.h"

namespace brigade::checkpoint {
namespace {

using sharding::Box;
using sharding::interval;
using ::testing::AllOf;
using ::testing::HasSubstr;

Manifest with_boxes(const sharding::Shape& shape, const std::vector<Box>& boxes) {
  Manifest manifest;
  ManifestTensor& tensor = manifest.tensors["the.tensor"];
  tensor.shape = shape;
  for (const Box& box : boxes) {
    tensor.boxes.emplace_back().box = box;
  }
  return manifest;
}

std::vector<Box> grid(const sharding::Shape& shape, int64_t rows, int64_t columns) {
  std::vector<Box> boxes;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      boxes.push_back({{interval(shape[0], i, rows), interval(shape[1], j, columns)}});
    }
  }
  return boxes;
}

// R032: 5 rows over 4 ranks are 5 rows.
TEST(Coverage, R032GridsOfOddSizesCover) {
  for (const int64_t size : {0, 1, 2, 3, 5, 7, 97}) {
    for (const int64_t rows : {1, 2, 3, 4, 8}) {
      for (const int64_t columns : {1, 2, 3}) {
        const sharding::Shape shape = {size, 5};
        EXPECT_TRUE(check_coverage(with_boxes(shape, grid(shape, rows, columns))));
      }
    }
  }
  EXPECT_TRUE(check_coverage(with_boxes({}, {Box()})));
}

TEST(Coverage, AHoleIsNamedWithItsTensor) {
  std::vector<Box> boxes = grid({7, 5}, 3, 2);
  for (size_t missing = 0; missing < boxes.size(); ++missing) {
    std::vector<Box> others = boxes;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(missing));
    const Result<void> covered = check_coverage(with_boxes({7, 5}, others));
    ASSERT_FALSE(covered);
    EXPECT_EQ(covered.error().code, ErrorCode::kData);
    EXPECT_THAT(covered.error().text, AllOf(HasSubstr("the.tensor"), HasSubstr("hole")));
  }
  EXPECT_FALSE(check_coverage(with_boxes({}, {})));
}

TEST(Coverage, AnOverlapIsNamedWithBothBoxes) {
  const Result<void> twice =
      check_coverage(with_boxes({4, 4}, {{{{0, 2}, {0, 4}}}, {{{1, 4}, {0, 4}}}}));
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().text,
              AllOf(HasSubstr("the.tensor"), HasSubstr("[0:2,0:4]"), HasSubstr("[1:4,0:4]")));
  // As many elements as the tensor has, and yet neither whole nor disjoint.
  EXPECT_FALSE(check_coverage(with_boxes({2, 2}, {{{{0, 2}, {0, 1}}}, {{{0, 1}, {0, 2}}}})));
  EXPECT_FALSE(check_coverage(with_boxes({}, {Box(), Box()})));
}

TEST(Coverage, BoxesNeedNotBeAGrid) {
  EXPECT_TRUE(check_coverage(with_boxes(
      {3, 3}, {{{{0, 1}, {0, 3}}}, {{{1, 3}, {0, 1}}}, {{{1, 2}, {1, 3}}}, {{{2, 3}, {1, 3}}}})));
}

// Quadratic work would be a thousand times as much: 1024 tensors of 1024 boxes each.
TEST(Coverage, OfManyTensorsInManyBoxesIsChecked) {
  Manifest manifest = with_boxes({4096, 4}, grid({4096, 4}, 1024, 1));
  const ManifestTensor tensor = manifest.tensors["the.tensor"];
  for (int i = 1; i < 1024; ++i) {
    manifest.tensors["tensor" + std::to_string(i)] = tensor;
  }
  EXPECT_TRUE(check_coverage(manifest));
}

}  // namespace
}  // namespace brigade::checkpoint
