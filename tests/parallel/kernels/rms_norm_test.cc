// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/rms_norm.h"

#include <limits>

#include "tests/parallel/kernels/kernel_checks.h"

namespace brigade::kernels {
namespace {

constexpr double kEps = 1e-5;

double inverse_of(const Floats& x, const RmsNormShape& shape, int64_t row) {
  double sum = 0;
  for (int64_t i = 0; i < shape.dim; ++i) {
    const double value = x[to_size(row * shape.dim + i)];
    sum += value * value;
  }
  return 1.0 / std::sqrt(sum / static_cast<double>(shape.dim) + kEps);
}

struct Case {
  RmsNormShape shape;
  Floats x, gain, dy;

  Case(int64_t rows, int64_t dim)
      : shape{rows, dim},
        x(random_floats(rows * dim, 1)),
        gain(random_floats(dim, 2)),
        dy(random_floats(rows * dim, 3)) {}

  Floats inverse() const {
    Floats y(x.size());
    Floats inverse(to_size(shape.rows));
    rms_norm_forward(shape,
                     x.data(),
                     gain.data(),
                     static_cast<float>(kEps),
                     y.data(),
                     inverse.data(),
                     0,
                     shape.rows);
    return inverse;
  }
};

TEST(RmsNorm, MatchesItsFormulaInDouble) {
  for (const int64_t dim : kOddSizes) {
    const Case c(3, dim);
    Floats y(c.x.size());
    Floats inverse(3);
    rms_norm_forward(c.shape,
                     c.x.data(),
                     c.gain.data(),
                     static_cast<float>(kEps),
                     y.data(),
                     inverse.data(),
                     0,
                     3);
    for (int64_t row = 0; row < 3 && dim > 0; ++row) {
      const double expected = inverse_of(c.x, c.shape, row);
      EXPECT_LT(ulps(inverse[to_size(row)], expected), 4.0);
      for (int64_t i = 0; i < dim; ++i) {
        const size_t at = to_size(row * dim + i);
        EXPECT_LT(ulps(y[at], wide(c.x[at]) * expected * wide(c.gain[to_size(i)])), 6.0);
      }
    }
  }
}

TEST(RmsNorm, MatchesItsGradientInDouble) {
  for (const int64_t dim : kOddSizes) {
    const Case c(2, dim);
    Floats dx(c.x.size());
    rms_norm_backward(
        c.shape, c.x.data(), c.gain.data(), c.inverse().data(), c.dy.data(), dx.data(), 0, 2);
    for (int64_t row = 0; row < 2; ++row) {
      const double inverse = inverse_of(c.x, c.shape, row);
      double dot = 0;
      for (int64_t i = 0; i < dim; ++i) {
        const size_t at = to_size(row * dim + i);
        dot += wide(c.dy[at]) * wide(c.gain[to_size(i)]) * wide(c.x[at]) * inverse;
      }
      for (int64_t i = 0; i < dim; ++i) {
        const size_t at = to_size(row * dim + i);
        const double own = wide(c.dy[at]) * wide(c.gain[to_size(i)]);
        const double shared = wide(c.x[at]) * inverse * dot / static_cast<double>(dim);
        const double tolerance = 1e-6 * inverse * (std::abs(own) + std::abs(shared) + 1e-3);
        EXPECT_NEAR(dx[at], (own - shared) * inverse, tolerance);
      }
    }
  }
}

TEST(RmsNorm, SumsTheGainsGradientOverRows) {
  const Case c(100, 33);
  const Floats inverse = c.inverse();
  Floats dgain(33, -1);
  rms_norm_gain_gradient(c.shape, c.x.data(), inverse.data(), c.dy.data(), dgain.data(), 0, 33);
  for (int64_t i = 0; i < 33; ++i) {
    double expected = 0;
    double size = 0;
    for (int64_t row = 0; row < 100; ++row) {
      const size_t at = to_size(row * 33 + i);
      const double term = wide(c.dy[at]) * wide(c.x[at]) * wide(inverse[to_size(row)]);
      expected += term;
      size += std::abs(term);
    }
    EXPECT_NEAR(dgain[to_size(i)], expected, 2e-7 * size);
  }
}

TEST(RmsNorm, GivesAZeroGainGradientWithoutRows) {
  Floats dgain(5, -1);
  rms_norm_gain_gradient<float>({0, 5}, nullptr, nullptr, nullptr, dgain.data(), 0, 5);
  EXPECT_EQ(dgain, Floats(5, 0));
}

TEST(RmsNorm, KeepsItsBitsWhenRowsOrColumnsAreCut) {
  const Case c(300, 301);
  const Floats inverse = c.inverse();
  Floats y(c.x.size()), dx(c.x.size()), dgain(301), saved(300);
  rms_norm_forward(
      c.shape, c.x.data(), c.gain.data(), static_cast<float>(kEps), y.data(), saved.data(), 0, 300);
  rms_norm_backward(
      c.shape, c.x.data(), c.gain.data(), inverse.data(), c.dy.data(), dx.data(), 0, 300);
  rms_norm_gain_gradient(c.shape, c.x.data(), inverse.data(), c.dy.data(), dgain.data(), 0, 301);
  Floats y_cut(c.x.size()), dx_cut(c.x.size()), dgain_cut(301);
  run_in_pieces(300, [&](int64_t begin, int64_t end) {
    rms_norm_forward(c.shape,
                     c.x.data(),
                     c.gain.data(),
                     static_cast<float>(kEps),
                     y_cut.data(),
                     saved.data(),
                     begin,
                     end);
    rms_norm_backward(
        c.shape, c.x.data(), c.gain.data(), inverse.data(), c.dy.data(), dx_cut.data(), begin, end);
  });
  run_in_pieces(301, [&](int64_t begin, int64_t end) {
    rms_norm_gain_gradient(
        c.shape, c.x.data(), inverse.data(), c.dy.data(), dgain_cut.data(), begin, end);
  });
  EXPECT_TRUE(same_bits(y, y_cut));
  EXPECT_TRUE(same_bits(dx, dx_cut));
  EXPECT_TRUE(same_bits(dgain, dgain_cut));
  EXPECT_TRUE(same_bits(inverse, saved));
}

TEST(RmsNorm, KeepsItsBitsWhereverARowLies) {
  const Case c(2, 100);
  Floats expected(c.x.size());
  Floats inverse(2);
  rms_norm_forward(
      c.shape, c.x.data(), c.gain.data(), 1e-5F, expected.data(), inverse.data(), 0, 2);
  for (const int64_t offset : kOffsets) {
    Misaligned x(c.x, offset);
    rms_norm_forward(c.shape, x.data(), c.gain.data(), 1e-5F, x.data(), inverse.data(), 0, 2);
    EXPECT_TRUE(same_bits(x.values(), expected)) << "in place, offset " << offset;
  }
}

TEST(RmsNorm, CarriesNaNThroughItsOwnRowAlone) {
  Case c(2, 17);
  c.x[3] = std::numeric_limits<float>::quiet_NaN();
  Floats y(c.x.size());
  Floats inverse(2);
  rms_norm_forward(c.shape, c.x.data(), c.gain.data(), 1e-5F, y.data(), inverse.data(), 0, 2);
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[16]));
  EXPECT_TRUE(std::isfinite(y[17]));
}

TEST(RmsNorm, InBf16IsTheFloatKernelRoundedOnce) {
  for (const int64_t dim : kOddSizes) {
    const Case c(50, dim);
    const Halves x = narrowed(c.x), gain = narrowed(c.gain), dy = narrowed(c.dy);
    const Floats wide_x = widened(x), wide_gain = widened(gain), wide_dy = widened(dy);
    Floats y(x.size()), dx(x.size()), dgain(gain.size()), inverse(50);
    const float eps = static_cast<float>(kEps);
    rms_norm_forward(
        c.shape, wide_x.data(), wide_gain.data(), eps, y.data(), inverse.data(), 0, 50);
    rms_norm_backward(
        c.shape, wide_x.data(), wide_gain.data(), inverse.data(), wide_dy.data(), dx.data(), 0, 50);
    rms_norm_gain_gradient(
        c.shape, wide_x.data(), inverse.data(), wide_dy.data(), dgain.data(), 0, dim);
    Halves half_y(x.size()), half_dx(x.size()), half_dgain(gain.size());
    Floats half_inverse(50);
    rms_norm_forward(
        c.shape, x.data(), gain.data(), eps, half_y.data(), half_inverse.data(), 0, 50);
    rms_norm_backward(
        c.shape, x.data(), gain.data(), inverse.data(), dy.data(), half_dx.data(), 0, 50);
    rms_norm_gain_gradient(c.shape, x.data(), inverse.data(), dy.data(), half_dgain.data(), 0, dim);
    EXPECT_TRUE(same_bits(half_inverse, inverse));
    EXPECT_EQ(half_y, narrowed(y));
    EXPECT_EQ(half_dx, narrowed(dx));
    EXPECT_EQ(half_dgain, narrowed(dgain));
  }
}

}  // namespace
}  // namespace brigade::kernels
