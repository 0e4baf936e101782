// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/rotary.h"

#include "tests/parallel/kernels/kernel_checks.h"

namespace brigade::kernels {
namespace {

struct Case {
  RotaryShape shape;
  Floats cosines, sines, x;

  Case(int64_t batch, int64_t sequence, int64_t heads, int64_t head_dim)
      : shape{batch * sequence, sequence, heads, head_dim},
        cosines(to_size(sequence * head_dim / 2)),
        sines(cosines.size()),
        x(random_floats(batch * sequence * heads * head_dim, 1)) {
    rotary_table(10000.0, head_dim, 0, sequence, cosines.data(), sines.data());
  }

  Floats forward() const {
    Floats y(x.size());
    rotary_forward(shape, x.data(), cosines.data(), sines.data(), y.data(), 0, shape.rows);
    return y;
  }
};

TEST(Rotary, TurnsEachPairByItsPositionsAngle) {
  for (const int64_t head_dim : {2, 6, 34, 64, 66}) {
    const Case c(2, 5, 3, head_dim);
    const Floats y = c.forward();
    const int64_t half = head_dim / 2;
    for (int64_t head = 0; head < c.shape.rows * 3; ++head) {
      const double position = static_cast<double>(head / 3 % 5);
      for (int64_t i = 0; i < half; ++i) {
        const double angle =
            position * std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(half));
        const double low = c.x[to_size(head * head_dim + i)];
        const double high = c.x[to_size(head * head_dim + half + i)];
        EXPECT_NEAR(
            y[to_size(head * head_dim + i)], low * std::cos(angle) - high * std::sin(angle), 4e-7);
        EXPECT_NEAR(y[to_size(head * head_dim + half + i)],
                    high * std::cos(angle) + low * std::sin(angle),
                    4e-7);
      }
    }
  }
}

TEST(Rotary, TableStartsWhereItIsTold) {
  Floats all(30), all_sines(30), tail(10), tail_sines(10);
  rotary_table(500000.0, 10, 0, 6, all.data(), all_sines.data());
  rotary_table(500000.0, 10, 4, 2, tail.data(), tail_sines.data());
  EXPECT_TRUE(same_bits(Floats(all.begin() + 20, all.end()), tail));
  EXPECT_TRUE(same_bits(Floats(all_sines.begin() + 20, all_sines.end()), tail_sines));
}

TEST(Rotary, BackwardUndoesForward) {
  const Case c(2, 7, 2, 16);
  Floats back = c.forward();
  rotary_backward(
      c.shape, back.data(), c.cosines.data(), c.sines.data(), back.data(), 0, c.shape.rows);
  for (size_t i = 0; i < back.size(); ++i) {
    EXPECT_NEAR(back[i], c.x[i], 1e-6);
  }
}

TEST(Rotary, KeepsItsBitsInPlaceInPiecesAndMisaligned) {
  const Case c(8, 33, 2, 34);
  const Floats expected = c.forward();
  for (const int64_t offset : kOffsets) {
    Misaligned x(c.x, offset);
    run_in_pieces(c.shape.rows, [&](int64_t begin, int64_t end) {
      rotary_forward(c.shape, x.data(), c.cosines.data(), c.sines.data(), x.data(), begin, end);
    });
    EXPECT_TRUE(same_bits(x.values(), expected));
  }
}

TEST(Rotary, AcceptsNoRows) {
  rotary_forward<float>({0, 4, 2, 8}, nullptr, nullptr, nullptr, nullptr, 0, 0);
  rotary_table(10000.0, 8, 0, 0, nullptr, nullptr);
}

TEST(Rotary, InBf16IsTheFloatKernelRoundedOnce) {
  const RotaryShape shape = {6, 3, 2, 34};
  Floats cosines(3 * 17), sines(3 * 17);
  rotary_table(10000.0, 34, 5, 3, cosines.data(), sines.data());
  const Halves x = narrowed(random_floats(6 * 68, 1));
  const Floats wide_x = widened(x);
  Floats y(x.size()), dx(x.size());
  rotary_forward(shape, wide_x.data(), cosines.data(), sines.data(), y.data(), 0, 6);
  rotary_backward(shape, wide_x.data(), cosines.data(), sines.data(), dx.data(), 0, 6);
  Halves half_y(x.size()), half_dx(x.size());
  rotary_forward(shape, x.data(), cosines.data(), sines.data(), half_y.data(), 0, 6);
  rotary_backward(shape, x.data(), cosines.data(), sines.data(), half_dx.data(), 0, 6);
  EXPECT_EQ(half_y, narrowed(y));
  EXPECT_EQ(half_dx, narrowed(dx));
}

}  // namespace
}  // namespace brigade::kernels
