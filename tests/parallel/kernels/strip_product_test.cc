// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/strip_product.h"

#include "tests/parallel/kernels/kernel_checks.h"

namespace brigade::kernels {
namespace {

struct Strip {
  int64_t rows, columns, terms;
  bool accumulate;
};

constexpr float kUntouched = 77.0F;

/// Strides wider than the sizes; `a` has its terms as neighbours, or its rows if `transposed`.
void check(const Strip& s, bool transposed) {
  const int64_t b_row = s.columns + 3;
  const int64_t c_row = s.columns + 5;
  const int64_t a_row = transposed ? 1 : s.terms + 2;
  const int64_t a_term = transposed ? s.rows + 2 : 1;
  const Floats a = random_floats((s.rows + 2) * (s.terms + 2), 1);
  const Floats b = random_floats(s.terms * b_row, 2);
  Floats c(to_size(s.rows * c_row), kUntouched);
  const Floats old = c;
  strip_product({.rows = s.rows,
                 .columns = s.columns,
                 .terms = s.terms,
                 .a = a.data(),
                 .a_row = a_row,
                 .a_term = a_term,
                 .b = b.data(),
                 .b_row = b_row,
                 .c = c.data(),
                 .c_row = c_row,
                 .accumulate = s.accumulate});
  for (int64_t row = 0; row < s.rows; ++row) {
    for (int64_t column = 0; column < c_row; ++column) {
      const size_t at = to_size(row * c_row + column);
      float expected = s.accumulate || column >= s.columns ? old[at] : 0.0F;
      for (int64_t term = 0; column < s.columns && term < s.terms; ++term) {
        expected = std::fma(
            a[to_size(row * a_row + term * a_term)], b[to_size(term * b_row + column)], expected);
      }
      ASSERT_EQ(c[at], expected) << row << ' ' << column;
    }
  }
}

TEST(StripProduct, IsOneChainOfFmaPerElementAndLeavesOthersAlone) {
  for (int64_t rows = 1; rows <= kStripRows; ++rows) {
    for (const int64_t columns : {1, 15, 16, 17, 48, 63, 64, 65, 100, 128}) {
      for (const int64_t terms : {0, 1, 2, 33, 64}) {
        for (const bool accumulate : {false, true}) {
          SCOPED_TRACE(testing::Message() << rows << " x " << columns << " x " << terms);
          check({rows, columns, terms, accumulate}, false);
          check({rows, columns, terms, accumulate}, true);
        }
      }
    }
  }
}

}  // namespace
}  // namespace brigade::kernels
