// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/silu_gate.h"

#include <limits>

#include "tests/parallel/kernels/kernel_checks.h"

namespace brigade::kernels {
namespace {

double sigmoid_in_double(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

TEST(SiluGate, MatchesItsFormulaInDouble) {
  for (const int64_t count : kOddSizes) {
    const Floats gate = random_floats(count, 1, -30, 30);
    const Floats up = random_floats(count, 2);
    Floats y(gate.size());
    silu_gate_forward(gate.data(), up.data(), y.data(), 0, count);
    for (size_t i = 0; i < y.size(); ++i) {
      const double g = wide(gate[i]);
      EXPECT_LT(ulps(y[i], g * sigmoid_in_double(g) * wide(up[i])), 4.0) << g;
    }
  }
}

TEST(SiluGate, MatchesItsGradientInDouble) {
  for (const int64_t count : kOddSizes) {
    const Floats gate = random_floats(count, 1, -30, 30);
    const Floats up = random_floats(count, 2);
    const Floats dy = random_floats(count, 3);
    Floats dgate(gate.size()), dup(gate.size());
    silu_gate_backward(gate.data(), up.data(), dy.data(), dgate.data(), dup.data(), 0, count);
    for (size_t i = 0; i < gate.size(); ++i) {
      const double g = wide(gate[i]);
      const double s = sigmoid_in_double(g);
      EXPECT_LT(ulps(dup[i], wide(dy[i]) * g * s), 5.0) << g;
      const double outer = wide(dy[i]) * wide(up[i]) * s;
      // 1 + g (1 - s) crosses zero: relative to its terms.
      EXPECT_NEAR(dgate[i],
                  outer * (1 + g * (1 - s)),
                  6e-7 * std::abs(outer) * (1 + std::abs(g * (1 - s))) + 1e-44)
          << g;
    }
  }
}

TEST(SiluGate, MeetsItsEnds) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Floats gate = {1000, -1000, infinity, std::numeric_limits<float>::quiet_NaN(), 0};
  const Floats up(5, 2);
  const Floats dy(5, 1);
  Floats y(5), dgate(5), dup(5);
  silu_gate_forward(gate.data(), up.data(), y.data(), 0, 5);
  EXPECT_EQ(y[0], 2000.0F);
  EXPECT_EQ(y[1], 0.0F);
  EXPECT_EQ(y[2], infinity);
  EXPECT_TRUE(std::isnan(y[3]));
  EXPECT_EQ(y[4], 0.0F);
  silu_gate_backward(gate.data(), up.data(), dy.data(), dgate.data(), dup.data(), 0, 5);
  EXPECT_EQ(dgate[0], 2.0F);
  EXPECT_EQ(dgate[1], 0.0F);
  EXPECT_TRUE(std::isnan(dgate[3]) && std::isnan(dup[3]));
  EXPECT_EQ(dgate[4], 1.0F);
}

TEST(SiluGate, KeepsItsBitsInPiecesAndMisaligned) {
  const Floats gate = random_floats(1003, 1, -20, 20);
  const Floats up = random_floats(1003, 2);
  const Floats dy = random_floats(1003, 3);
  Floats y(1003), dgate(1003), dup(1003);
  silu_gate_forward(gate.data(), up.data(), y.data(), 0, 1003);
  silu_gate_backward(gate.data(), up.data(), dy.data(), dgate.data(), dup.data(), 0, 1003);
  for (const int64_t offset : kOffsets) {
    Misaligned g(gate, offset);
    Misaligned u(up, offset);
    Floats y_cut(1003);
    run_in_pieces(1003, [&](int64_t begin, int64_t end) {
      silu_gate_forward(g.data(), u.data(), y_cut.data(), begin, end);
      silu_gate_backward(g.data(), u.data(), dy.data(), g.data(), u.data(), begin, end);
    });
    EXPECT_TRUE(same_bits(y_cut, y));
    EXPECT_TRUE(same_bits(g.values(), dgate)) << "in place";
    EXPECT_TRUE(same_bits(u.values(), dup)) << "in place";
  }
}

TEST(SiluGate, InBf16IsTheFloatKernelRoundedOnce) {
  for (const int64_t count : kOddSizes) {
    const Halves gate = narrowed(random_floats(count, 1, -30, 30));
    const Halves up = narrowed(random_floats(count, 2));
    const Halves dy = narrowed(random_floats(count, 3));
    const Floats g = widened(gate), u = widened(up), d = widened(dy);
    Floats y(g.size()), dgate(g.size()), dup(g.size());
    silu_gate_forward(g.data(), u.data(), y.data(), 0, count);
    silu_gate_backward(g.data(), u.data(), d.data(), dgate.data(), dup.data(), 0, count);
    Halves half_y(g.size()), half_dgate(g.size()), half_dup(g.size());
    silu_gate_forward(gate.data(), up.data(), half_y.data(), 0, count);
    silu_gate_backward(
        gate.data(), up.data(), dy.data(), half_dgate.data(), half_dup.data(), 0, count);
    EXPECT_EQ(half_y, narrowed(y));
    EXPECT_EQ(half_dgate, narrowed(dgate));
    EXPECT_EQ(half_dup, narrowed(dup));
  }
}

}  // namespace
}  // namespace brigade::kernels
