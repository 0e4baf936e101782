// SPDX-License-Identifier: Apache-2.0
#include "parallel/base/exact_sum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace brigade {
namespace {

TEST(ExactSum, KeepsWhatDoublesLose) {
  ExactSum sum;
  for (const double term : {1e300, 1.0, -1e300, 0x1p-1074, -1.0}) {
    sum.add(term);
  }
  EXPECT_EQ(sum.value(), 0x1p-1074);
}

TEST(ExactSum, RoundsHalfwayCasesToEven) {
  ExactSum down;
  down.add(1.0);
  down.add(0x1p-53);
  EXPECT_EQ(down.value(), 1.0);
  down.add(0x1p-1074);
  EXPECT_EQ(down.value(), 1.0 + 0x1p-52);
}

TEST(ExactSum, DependsOnNeitherOrderNorSplit) {
  std::mt19937_64 random(7);
  std::vector<double> terms(1000);
  for (double& term : terms) {
    term = std::ldexp(std::uniform_real_distribution<double>(-1, 1)(random),
                      static_cast<int>(random() % 200) - 100);
  }
  ExactSum forward;
  for (const double term : terms) {
    forward.add(term);
  }
  std::shuffle(terms.begin(), terms.end(), random);
  ExactSum left;
  ExactSum right;
  for (size_t i = 0; i < terms.size(); ++i) {
    (i % 3 == 0 ? left : right).add(terms[i]);
  }
  left.add(right);
  EXPECT_EQ(left.value(), forward.value());
  EXPECT_TRUE(std::isfinite(forward.value()));
}

TEST(ExactSum, TravelsAsLimbs) {
  ExactSum a;
  ExactSum b;
  a.add(-3.25);
  b.add(1.0);
  a.normalize();
  b.normalize();
  ExactSum sum;
  for (size_t i = 0; i < ExactSum::kLimbs; ++i) {
    sum.limbs()[i] = a.limbs()[i] + b.limbs()[i];
  }
  EXPECT_EQ(sum.value(), -2.25);
}

TEST(ExactSum, CountsTermsThatAreNotFinite) {
  ExactSum sum;
  sum.add(1.0);
  sum.add(std::numeric_limits<double>::infinity());
  sum.add(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(sum.nonfinite_count(), 2);
  EXPECT_TRUE(std::isnan(sum.value()));
}

}  // namespace
}  // namespace brigade
