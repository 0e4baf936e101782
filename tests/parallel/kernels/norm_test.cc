// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/norm.h"

#include <limits>

#include "tests/parallel/kernels/kernel_checks.h"

namespace brigade::kernels {
namespace {

TEST(Norm, SumsSquaresInDouble) {
  for (const int64_t count : kOddSizes) {
    const Floats x = random_floats(count, 1, -1e10F, 1e10F);
    double expected = 0;
    for (const float value : x) {
      expected += wide(value) * wide(value);
    }
    EXPECT_NEAR(sum_of_squares(x.data(), count), expected, 1e-14 * expected);
  }
  const Floats large(3, 3e38F);
  EXPECT_TRUE(std::isfinite(sum_of_squares(large.data(), 3)));
}

TEST(Norm, IsTheSameForAnySplitOfTheRows) {
  const Floats x = random_floats(300 * 33, 2);
  ExactSum whole;
  add_sum_of_squares(x.data(), 300, 33, whole);
  ExactSum joined;
  run_in_pieces(300, [&](int64_t begin, int64_t end) {
    ExactSum part;
    add_sum_of_squares(x.data() + begin * 33, end - begin, 33, part);
    joined.add(part);
  });
  EXPECT_EQ(joined.value(), whole.value());
}

TEST(Norm, OfARowDoesNotDependOnItsPlace) {
  const Floats x = random_floats(101, 3);
  const double expected = sum_of_squares(x.data(), 101);
  for (const int64_t offset : kOffsets) {
    EXPECT_EQ(sum_of_squares(Misaligned(x, offset).data(), 101), expected);
  }
}

TEST(Norm, CountsRowsThatAreNotFinite) {
  Floats x(4 * 5, 1.0F);
  x[7] = std::numeric_limits<float>::infinity();
  x[19] = std::numeric_limits<float>::quiet_NaN();
  ExactSum sum;
  add_sum_of_squares(x.data(), 4, 5, sum);
  EXPECT_EQ(sum.nonfinite_count(), 2);
}

TEST(Norm, FindsNonFiniteElementsWhereverTheyAre) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const int64_t place : {0, 1, 31, 4095, 4096, 9000, 9999}) {
    Floats x = random_floats(10000, 4, -1e38F, 1e38F);
    EXPECT_EQ(find_nonfinite(x.data(), 10000).count, 0);
    EXPECT_EQ(find_nonfinite(x.data(), 10000).first, -1);
    x[to_size(place)] = -infinity;
    x[9999] = std::numeric_limits<float>::quiet_NaN();
    const NonFinite found = find_nonfinite(x.data(), 10000);
    EXPECT_EQ(found.first, place);
    EXPECT_EQ(found.count, place == 9999 ? 1 : 2);
  }
  EXPECT_EQ(find_nonfinite(nullptr, 0).count, 0);
}

TEST(Norm, AddsAndScalesItsRangeAlone) {
  const Floats x = random_floats(100, 5);
  const Floats y = random_floats(100, 6);
  Floats sum = x;
  Floats scaled = x;
  add(y.data(), sum.data(), 3, 97);
  scale(0.3F, scaled.data(), 3, 97);
  for (size_t i = 0; i < 100; ++i) {
    const bool inside = i >= 3 && i < 97;
    EXPECT_EQ(sum[i], inside ? x[i] + y[i] : x[i]);
    EXPECT_EQ(scaled[i], inside ? x[i] * 0.3F : x[i]);
  }
}

}  // namespace
}  // namespace brigade::kernels
