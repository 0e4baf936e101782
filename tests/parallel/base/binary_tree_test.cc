// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/binary_tree.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace brigade {
namespace {

/// The tree over [lo, hi) as text: "((0+1)+2)".
std::string shape(int64_t lo, int64_t hi) {
  return tree_sum(
      lo,
      hi,
      [](int64_t i) { return std::to_string(i); },
      [](const std::string& a, const std::string& b) { return "(" + a + "+" + b + ")"; });
}

TEST(BinaryTree, SplitsAtTheLargestPowerOfTwoBelowTheWidth) {
  EXPECT_EQ(tree_split(2), 1);
  EXPECT_EQ(tree_split(3), 2);
  EXPECT_EQ(tree_split(4), 2);
  EXPECT_EQ(tree_split(5), 4);
  EXPECT_EQ(tree_split(8), 4);
  EXPECT_EQ(tree_split(9), 8);
}

TEST(BinaryTree, JoinsNeighboursInAFixedOrder) {
  EXPECT_EQ(shape(0, 1), "0");
  EXPECT_EQ(shape(0, 3), "((0+1)+2)");
  EXPECT_EQ(shape(0, 4), "((0+1)+(2+3))");
  EXPECT_EQ(shape(0, 6), "(((0+1)+(2+3))+(4+5))");
}

TEST(BinaryTree, HasItsShapeFromTheWidthNotFromThePlace) {
  EXPECT_EQ(shape(5, 8), "((5+6)+7)");
}

TEST(BinaryTree, OverRunsOfPowersOfTwoIsTheUpperPartOfTheWholeTree) {
  // R ranks that each own 2^k microbatches: the tree over ranks of trees over their runs must be
  // the tree over all microbatches.
  for (int64_t ranks = 1; ranks <= 9; ++ranks) {
    for (const int64_t run : {1, 2, 4, 8}) {
      const std::string joined = tree_sum(
          0,
          ranks,
          [run](int64_t rank) { return shape(rank * run, (rank + 1) * run); },
          [](const std::string& a, const std::string& b) { return "(" + a + "+" + b + ")"; });
      EXPECT_EQ(joined, shape(0, ranks * run)) << ranks << " ranks of " << run;
    }
  }
}

TEST(BinaryTree, SumsEveryTermOnce) {
  for (int64_t width = 1; width <= 70; ++width) {
    const int64_t sum = tree_sum(
        0, width, [](int64_t i) { return i; }, [](int64_t a, int64_t b) { return a + b; });
    EXPECT_EQ(sum, width * (width - 1) / 2);
  }
}

}  // namespace
}  // namespace brigade
