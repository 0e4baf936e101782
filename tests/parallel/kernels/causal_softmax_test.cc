// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/causal_softmax.h"

#include <limits>

#include "tests/parallel/kernels/kernel_checks.h"

namespace brigade::kernels {
namespace {

constexpr double kScale = 0.125;

/// softmax(kScale * x) over [0, seen) of a row, in double.
std::vector<double> softmax_in_double(const float* x, int64_t seen) {
  double max = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < seen; ++i) {
    max = std::max(max, wide(x[i]));
  }
  std::vector<double> p(to_size(seen));
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    p[i] = std::exp((wide(x[i]) - max) * kScale);
    sum += p[i];
  }
  for (double& value : p) {
    value /= sum;
  }
  return p;
}

TEST(CausalSoftmax, MatchesItsFormulaAndHidesWhatComesLater) {
  for (const CausalTile tile :
       {CausalTile{1, 1, 0, 1}, {17, 17, 0, 20}, {15, 100, 33, 100}, {33, 64, 31, 80}}) {
    const Floats x = random_floats(tile.rows * tile.row_stride, 1, -30, 30);
    Floats p = x;
    causal_softmax(tile, static_cast<float>(kScale), p.data());
    for (int64_t row = 0; row < tile.rows; ++row) {
      const int64_t seen = tile.first + row + 1;
      const std::vector<double> expected =
          softmax_in_double(x.data() + row * tile.row_stride, seen);
      for (int64_t i = 0; i < tile.keys; ++i) {
        const float actual = p[to_size(row * tile.row_stride + i)];
        if (i < seen) {
          EXPECT_LT(ulps(actual, expected[to_size(i)]), 16.0);
        } else {
          EXPECT_EQ(actual, 0.0F);
        }
      }
    }
  }
}

TEST(CausalSoftmax, MatchesItsGradientInDouble) {
  const CausalTile tile = {15, 100, 33, 101};
  Floats p = random_floats(tile.rows * tile.row_stride, 1, -30, 30);
  causal_softmax(tile, static_cast<float>(kScale), p.data());
  const Floats dp = random_floats(tile.rows * tile.row_stride, 2);
  Floats dx = dp;
  causal_softmax_backward(tile, static_cast<float>(kScale), p.data(), dx.data());
  for (int64_t row = 0; row < tile.rows; ++row) {
    const int64_t seen = tile.first + row + 1;
    const size_t begin = to_size(row * tile.row_stride);
    double dot = 0;
    for (size_t i = 0; i < to_size(seen); ++i) {
      dot += wide(p[begin + i]) * wide(dp[begin + i]);
    }
    for (size_t i = 0; i < to_size(tile.keys); ++i) {
      const double expected = kScale * wide(p[begin + i]) * (wide(dp[begin + i]) - dot);
      EXPECT_NEAR(dx[begin + i],
                  static_cast<int64_t>(i) < seen ? expected : 0.0,
                  6e-7 * kScale * wide(p[begin + i]) * (2 + std::abs(dot)));
    }
  }
}

TEST(CausalSoftmax, KeepsTheBitsOfARowInAnyTile) {
  const Floats x = random_floats(40 * 64, 3);
  Floats whole = x;
  causal_softmax({40, 64, 24, 64}, 0.3F, whole.data());
  for (const int64_t offset : kOffsets) {
    Misaligned cut(x, offset);
    causal_softmax({13, 64, 24, 64}, 0.3F, cut.data());
    causal_softmax({27, 64, 37, 64}, 0.3F, cut.data() + 13 * 64);
    EXPECT_TRUE(same_bits(cut.values(), whole));
  }
}

TEST(CausalSoftmax, KeepsNaNInItsRowAndOutOfOthers) {
  Floats x(4 * 4, 1.0F);
  x[4] = std::numeric_limits<float>::quiet_NaN();  // seen by row 1
  x[3] = std::numeric_limits<float>::quiet_NaN();  // hidden from row 0
  causal_softmax({4, 4, 0, 4}, 1.0F, x.data());
  EXPECT_EQ(x[0], 1.0F);
  EXPECT_EQ(x[3], 0.0F);
  EXPECT_TRUE(std::isnan(x[4]) && std::isnan(x[5]));
  EXPECT_EQ(x[12], 0.25F);
}

}  // namespace
}  // namespace brigade::kernels
