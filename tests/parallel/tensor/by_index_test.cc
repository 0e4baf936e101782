// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/by_index.h"

#include <vector>

#include <gtest/gtest.h>

namespace brigade::tensor {
namespace {

using sharding::Box;
using sharding::Shape;

/// The indices of a box by counting, one after another.
std::vector<int64_t> listed(const Shape& global, const Box& box) {
  std::vector<int64_t> indices = {0};
  for (size_t dim = 0; dim < global.size(); ++dim) {
    std::vector<int64_t> longer;
    for (const int64_t index : indices) {
      for (int64_t at = box.dims[dim].begin; at < box.dims[dim].end; ++at) {
        longer.push_back(index * global[dim] + at);
      }
    }
    indices = longer;
  }
  return indices;
}

std::vector<int64_t> from_runs(const Shape& global, const Box& box) {
  const Runs runs(global, box);
  std::vector<int64_t> indices;
  for (int64_t run = 0; run < runs.count(); ++run) {
    for (int64_t i = 0; i < runs.width(); ++i) {
      indices.push_back(runs.start(run) + i);
    }
  }
  return indices;
}

TEST(Runs, ListABoxInRowMajorOrder) {
  const Shape global = {3, 4, 2};
  for (int64_t first = 0; first <= 3; ++first) {
    for (int64_t left = 0; left <= 4; ++left) {
      for (int64_t inner = 0; inner <= 2; ++inner) {
        const Box box{{{first, 3}, {left / 2, left}, {inner / 2, inner}}};
        EXPECT_EQ(from_runs(global, box), listed(global, box));
      }
    }
  }
}

TEST(Runs, JoinTrailingDimsThatAreWhole) {
  const Runs runs({5, 3, 4}, Box{{{1, 3}, {0, 3}, {0, 4}}});
  EXPECT_EQ(runs.count(), 1);
  EXPECT_EQ(runs.width(), 24);
  EXPECT_EQ(runs.start(0), 12);
}

TEST(Runs, KnowScalarsAndEmptyBoxes) {
  EXPECT_EQ(from_runs({}, Box{}), std::vector<int64_t>{0});
  EXPECT_EQ(Runs({4}, Box{{{2, 2}}}).count(), 0);
  EXPECT_EQ(Runs({4, 0}, Box{{{0, 4}, {0, 0}}}).count(), 0);
}

TEST(FillByIndex, GivesEveryElementTheValueOfItsGlobalIndex) {
  const auto block = [](uint64_t seed, uint64_t index, uint32_t step, uint64_t) {
    std::array<uint64_t, 4> values = {};
    for (uint64_t lane = 0; lane < 4; ++lane) {
      values[lane] = seed + step + 4 * index + lane;
    }
    return values;
  };
  const Shape global = {5, 7};
  const Box box{{{1, 4}, {2, 7}}};
  std::vector<uint64_t> values(15);
  fill_by_index(
      Runs(global, box), {.seed = 10, .name = "n", .step = 90}, "p", block, values.data());
  const std::vector<int64_t> indices = listed(global, box);
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(values[i], static_cast<uint64_t>(indices[i]) + 100);
  }
}

}  // namespace
}  // namespace brigade::tensor
