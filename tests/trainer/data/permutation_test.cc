// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/permutation.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/base/check.h"

namespace brigade::data {
namespace {

std::vector<int64_t> all_of(const Permutation& order, int64_t size) {
  std::vector<int64_t> images;
  for (int64_t i = 0; i < size; ++i) {
    images.push_back(order(i));
  }
  return images;
}

void expect_bijection(int64_t size, int64_t epoch) {
  std::vector<int64_t> images = all_of(Permutation(7, epoch, size), size);
  std::sort(images.begin(), images.end());
  std::vector<int64_t> all(static_cast<size_t>(size));
  std::iota(all.begin(), all.end(), int64_t{0});
  EXPECT_EQ(images, all) << "size " << size << ", epoch " << epoch;
}

TEST(Permutation, IsABijectionForEverySize) {
  for (int64_t size = 1; size <= 50; ++size) {
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      expect_bijection(size, epoch);
    }
  }
  expect_bijection(1000, 5);
  expect_bijection(4096, 5);
  expect_bijection(4097, 5);
}

TEST(Permutation, DiffersBetweenEpochsAndSeeds) {
  const auto order = all_of(Permutation(7, 0, 1000), 1000);
  EXPECT_NE(order, all_of(Permutation(7, 1, 1000), 1000));
  EXPECT_NE(order, all_of(Permutation(8, 0, 1000), 1000));
  EXPECT_NE(order, all_of(Permutation(7 + (uint64_t{1} << 32), 0, 1000), 1000));
  EXPECT_EQ(order, all_of(Permutation(7, 0, 1000), 1000));
}

/// The mean distance of an element from its image is n/3 for a random order; 0 for the identity.
TEST(Permutation, MovesElementsAsFarAsARandomOrderDoes) {
  for (const int64_t size : {100, 1000, 5000}) {
    const auto order = all_of(Permutation(3, 2, size), size);
    double distance = 0;
    for (int64_t i = 0; i < size; ++i) {
      distance += static_cast<double>(std::abs(order[static_cast<size_t>(i)] - i));
    }
    EXPECT_NEAR(distance / static_cast<double>(size * size), 1.0 / 3.0, 0.05) << size;
  }
}

/// The order is part of what a run is: a change of it changes every curve.
TEST(Permutation, StaysWhatItIs) {
  EXPECT_EQ(all_of(Permutation(42, 0, 10), 10),
            (std::vector<int64_t>{5, 9, 1, 0, 4, 3, 8, 7, 2, 6}));
}

TEST(Permutation, ReachesSizesBeyondThirtyTwoBits) {
  const int64_t size = int64_t{3} << 40;
  const Permutation order(1, 0, size);
  EXPECT_NE(order(size - 1), order(size - 2));
  EXPECT_LT(order(size - 1), size);
}

TEST(Permutation, RefusesWhatIsOutOfRange) {
  EXPECT_THROW(Permutation(0, 0, 0), CheckFailure);
  EXPECT_THROW(Permutation(0, -1, 5), CheckFailure);
  EXPECT_THROW(Permutation(0, 0, 5)(5), CheckFailure);
}

}  // namespace
}  // namespace brigade::data
