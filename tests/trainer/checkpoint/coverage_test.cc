// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/sample_checkpoint.h"
#include "trainer/checkpoint/manifest.h"

namespace brigade::checkpoint {
namespace {

using sharding::Box;
using sharding::Shape;

Manifest of(const Shape& shape, const std::vector<Box>& boxes) {
  Manifest manifest;
  ManifestTensor& tensor = manifest.tensors["w"];
  tensor.shape = shape;
  for (const Box& box : boxes) {
    tensor.boxes.push_back({box, 0, 0, {}});
  }
  return manifest;
}

std::string refusal(const Shape& shape, const std::vector<Box>& boxes) {
  const auto covered = check_coverage(of(shape, boxes));
  return covered ? "covered" : covered.error().text;
}

// R032: dp2·tp2·z3, dp3, tp4, rows that divide and rows that do not.
TEST(Coverage, R032IsCompleteForEveryGridOfFloorIntervals) {
  for (const int64_t rows : {1, 2, 3, 5, 7, 97}) {
    for (const int64_t columns : {1, 3, 8}) {
      for (const int64_t row_parts : {1, 2, 3, 4, 8}) {
        for (const int64_t column_parts : {1, 2, 4}) {
          const auto boxes = grid({rows, columns}, {row_parts, column_parts});
          EXPECT_EQ(refusal({rows, columns}, boxes), "covered");
        }
      }
    }
  }
}

// R032
TEST(Coverage, R032NamesTheTensorWithAHoleAndWhereItIs) {
  for (const int64_t rows : {1, 2, 3, 5, 7, 97}) {
    auto boxes = grid({rows, 4}, {3, 2});
    for (size_t left_out = 0; left_out < boxes.size(); ++left_out) {
      auto rest = boxes;
      const Box lost = rest[left_out];
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(left_out));
      const std::string text = refusal({rows, 4}, rest);
      if (lost.element_count() == 0) {
        EXPECT_EQ(text, "covered");
        continue;
      }
      EXPECT_EQ(text,
                concat("boxes of tensor w leave a hole: none holds ",
                       to_string(lost),
                       "; ",
                       rows * 4 - lost.element_count(),
                       " of ",
                       rows * 4,
                       " elements are there"));
    }
  }
  EXPECT_EQ(refusal({3, 2}, {}),
            "boxes of tensor w leave a hole: none holds [0:3,0:2]; 0 of 6 elements are there");
  EXPECT_EQ(refusal({}, {}),
            "boxes of tensor w leave a hole: none holds []; 0 of 1 elements are there");
}

// R032: the same number of elements is not enough.
TEST(Coverage, R032NamesBoxesThatOverlap) {
  EXPECT_EQ(refusal({4, 2}, {{{{0, 2}, {0, 2}}}, {{{1, 3}, {0, 2}}}}),
            "boxes of tensor w overlap: [0:2,0:2] and [1:3,0:2]");
  EXPECT_EQ(refusal({2}, {{{{0, 2}}}, {{{0, 2}}}}), "boxes of tensor w overlap: [0:2] and [0:2]");
  EXPECT_EQ(refusal({}, {Box{}, Box{}}), "boxes of tensor w overlap: [] and []");
  EXPECT_EQ(refusal({3, 3}, {{{{0, 2}, {0, 2}}}, {{{1, 3}, {1, 3}}}, {{{2, 3}, {0, 1}}}}),
            "boxes of tensor w overlap: [0:2,0:2] and [1:3,1:3]");
}

TEST(Coverage, TakesTensorsWithoutElementsAndBoxesThatAreEmpty) {
  EXPECT_EQ(refusal({0, 5}, {}), "covered");
  EXPECT_EQ(refusal({0, 5}, {{{{0, 0}, {0, 5}}}}), "covered");
  EXPECT_EQ(refusal({2}, {{{{0, 2}}}, {{{1, 1}}}}), "covered");
  EXPECT_EQ(refusal({}, {Box{}}), "covered");
}

/// The truth, element by element.
bool covers(const Shape& shape, const std::vector<Box>& boxes) {
  for (int64_t i = 0; i < shape[0]; ++i) {
    for (int64_t j = 0; j < shape[1]; ++j) {
      for (int64_t k = 0; k < shape[2]; ++k) {
        const auto holders = std::count_if(boxes.begin(), boxes.end(), [&](const Box& box) {
          return intersect(box, {{{i, i + 1}, {j, j + 1}, {k, k + 1}}}).element_count() == 1;
        });
        if (holders != 1) {
          return false;
        }
      }
    }
  }
  return true;
}

TEST(Coverage, AgreesWithCountingOnCutsThatAreNoGrid) {
  std::mt19937 random(1);
  const Shape shape = {4, 3, 5};
  int complete = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<Box> boxes = {{{{0, 4}, {0, 3}, {0, 5}}}};
    for (int cut = 0; cut < 6; ++cut) {
      Box& box = boxes[random() % boxes.size()];
      sharding::Interval& dim = box.dims[random() % 3];
      if (dim.size() > 1) {
        Box other = box;
        const int64_t at = dim.begin + 1 + static_cast<int64_t>(random() % 100) % (dim.size() - 1);
        other.dims[static_cast<size_t>(&dim - box.dims.data())].begin = at;
        dim.end = at;
        boxes.push_back(other);
      }
    }
    if (round % 3 != 0) {
      sharding::Interval& dim = boxes[random() % boxes.size()].dims[random() % 3];
      int64_t& end = random() % 2 == 0 ? dim.begin : dim.end;
      end = std::clamp<int64_t>(end + (random() % 2 == 0 ? 1 : -1), 0, 3);
      dim.end = std::max(dim.begin, dim.end);
    }
    std::shuffle(boxes.begin(), boxes.end(), random);
    const std::string text = refusal(shape, boxes);
    EXPECT_EQ(text == "covered", covers(shape, boxes)) << text;
    complete += text == "covered" ? 1 : 0;
  }
  EXPECT_GT(complete, 1000);
  EXPECT_LT(complete, 2500);
}

TEST(Coverage, OfATensorThatClaimsTooMuchIsNoOverflow) {
  const int64_t huge = int64_t{1} << 60;
  std::vector<Box> boxes(20, {{{0, huge}}});
  EXPECT_THAT(refusal({huge}, boxes), testing::HasSubstr("overlap"));
}

/// A thousand ranks in a grid. A square of the number of boxes would not end within the test.
TEST(Coverage, OfAThousandTensorsOnAThousandRanksIsASweep) {
  const auto boxes = grid({4096, 4096}, {64, 16});
  Manifest manifest = of({4096, 4096}, boxes);
  const ManifestTensor tensor = manifest.tensors["w"];
  for (int i = 1; i < 1024; ++i) {
    manifest.tensors["w" + std::to_string(i)] = tensor;
  }
  EXPECT_TRUE(check_coverage(manifest));
  manifest.tensors["w1023"].boxes.pop_back();
  EXPECT_THAT(check_coverage(manifest).error().text,
              testing::HasSubstr("w1023 leave a hole: none holds [4032:4096,3840:4096]"));
}

}  // namespace
}  // namespace brigade::checkpoint
