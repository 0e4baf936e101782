// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/matmul.h"

#include <array>
#include <thread>

#include "parallel/base/bf16.h"
#include "parallel/base/check.h"
#include "tests/parallel/kernels/kernel_checks.h"

namespace brigade::kernels {
namespace {

struct Sizes {
  int64_t batch, m, n, k;
};

/// A batch of matrices in one of the layouts that the seam takes, with gaps between rows.
struct Matrix {
  int64_t rows, columns, row_stride, column_stride, batch_stride;
  Floats values;

  Matrix(int64_t batch,
         int64_t row_count,
         int64_t column_count,
         bool transposed,
         int64_t gap,
         uint64_t seed)
      : rows(row_count), columns(column_count) {
    const int64_t length = (transposed ? rows : columns) + gap;
    row_stride = transposed ? 1 : length;
    column_stride = transposed ? length : 1;
    batch_stride = length * (transposed ? columns : rows) + gap;
    values = random_floats(batch * batch_stride + 1, seed);
  }

  size_t at(int64_t matrix, int64_t row, int64_t column) const {
    return to_size(matrix * batch_stride + row * row_stride + column * column_stride);
  }
  MatmulOperand operand() const { return {values.data(), row_stride, column_stride, batch_stride}; }
  MatmulResult result() {
    return {values.data(), DType::kFloat32, row_stride, column_stride, batch_stride};
  }
};

/// Checks `c` against the product in double, element by element, and that gaps keep what they had.
void expect_product(const Sizes& s,
                    const Matrix& a,
                    const Matrix& b,
                    const Matrix& before,
                    const Matrix& c,
                    bool accumulate,
                    double tolerance) {
  Floats rest = c.values;
  for (int64_t matrix = 0; matrix < s.batch; ++matrix) {
    for (int64_t i = 0; i < s.m; ++i) {
      for (int64_t j = 0; j < s.n; ++j) {
        double sum = accumulate ? wide(before.values[before.at(matrix, i, j)]) : 0.0;
        double size = std::abs(sum);
        for (int64_t l = 0; l < s.k; ++l) {
          const double term =
              wide(a.values[a.at(matrix, i, l)]) * wide(b.values[b.at(matrix, l, j)]);
          sum += term;
          size += std::abs(term);
        }
        ASSERT_NEAR(c.values[c.at(matrix, i, j)], sum, tolerance * size + 1e-30)
            << matrix << ' ' << i << ' ' << j;
        rest[c.at(matrix, i, j)] = before.values[c.at(matrix, i, j)];
      }
    }
  }
  EXPECT_TRUE(same_bits(rest, before.values)) << "wrote between rows";
}

void check_layouts(const Sizes& s, int64_t gap) {
  for (int layout = 0; layout < 16; ++layout) {
    SCOPED_TRACE(testing::Message() << s.batch << 'x' << s.m << 'x' << s.n << 'x' << s.k << " gap "
                                    << gap << " layout " << layout);
    const Matrix a(s.batch, s.m, s.k, (layout & 1) != 0, gap, 1);
    const Matrix b(s.batch, s.k, s.n, (layout & 2) != 0, gap, 2);
    const Matrix before(s.batch, s.m, s.n, (layout & 4) != 0, gap, 3);
    const bool accumulate = (layout & 8) != 0;
    Matrix c = before;
    matmul(
        DType::kFloat32, s.batch, s.m, s.n, s.k, a.operand(), b.operand(), c.result(), accumulate);
    expect_product(s, a, b, before, c, accumulate, 3e-7);
  }
}

TEST(Matmul, TakesEveryLayoutBatchAndAccumulation) {
  for (const Sizes& s : {Sizes{1, 1, 1, 1},
                         {1, 1, 17, 3},
                         {1, 17, 1, 31},
                         {1, 33, 15, 1},
                         {1, 31, 33, 100},
                         {3, 15, 17, 31},
                         {2, 1, 1, 5},
                         {4, 64, 100, 33}}) {
    check_layouts(s, 0);
    check_layouts(s, 5);
  }
}

TEST(Matmul, AcceptsEmptySizes) {
  for (const Sizes& s : {Sizes{0, 3, 3, 3}, {1, 0, 3, 3}, {1, 3, 0, 3}, {2, 3, 4, 0}}) {
    check_layouts(s, 2);
  }
}

TEST(Matmul, UsesOneMatrixForAWholeBatch) {
  const Sizes s = {3, 5, 7, 9};
  const Matrix a(3, 5, 9, false, 0, 1);
  Matrix b(3, 9, 7, false, 0, 2);
  for (int64_t matrix = 1; matrix < 3; ++matrix) {
    std::copy_n(b.values.begin(), b.batch_stride, b.values.begin() + matrix * b.batch_stride);
  }
  const Matrix before(3, 5, 7, false, 0, 3);
  Matrix c = before;
  MatmulOperand shared = b.operand();
  shared.batch_stride = 0;
  matmul(DType::kFloat32, 3, 5, 7, 9, a.operand(), shared, c.result(), false);
  expect_product(s, a, b, before, c, false, 3e-7);
}

TEST(Matmul, MultipliesBf16IntoFloatOrBf16) {
  if (!matmul_supports(DType::kBFloat16)) {
    // Then asking for it is an error that names oneDNN, not a wrong result.
    std::array<uint16_t, 1> one = {0x3f80};
    EXPECT_THROW(matmul(DType::kBFloat16,
                        1,
                        1,
                        1,
                        1,
                        {one.data(), 1, 1},
                        {one.data(), 1, 1},
                        {one.data(), DType::kBFloat16, 1},
                        false),
                 CheckFailure);
    return;
  }
  const int64_t m = 33, n = 17, k = 100;
  std::vector<uint16_t> a(to_size(m * k)), b(to_size(n * k)), narrow(to_size(m * n));
  const Floats a_values = random_floats(m * k, 1), b_values = random_floats(n * k, 2);
  std::transform(a_values.begin(), a_values.end(), a.begin(), float_to_bf16);
  std::transform(b_values.begin(), b_values.end(), b.begin(), float_to_bf16);
  Floats sums = random_floats(m * n, 3);
  const Floats before = sums;
  const MatmulOperand left = {a.data(), k, 1}, right = {b.data(), 1, k};
  matmul(DType::kBFloat16, 1, m, n, k, left, right, {sums.data(), DType::kFloat32, n}, true);
  matmul(DType::kBFloat16, 1, m, n, k, left, right, {narrow.data(), DType::kBFloat16, n}, false);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0, size = 0;
      for (int64_t l = 0; l < k; ++l) {
        const double term = static_cast<double>(bf16_to_float(a[to_size(i * k + l)])) *
                            static_cast<double>(bf16_to_float(b[to_size(j * k + l)]));
        sum += term;
        size += std::abs(term);
      }
      const size_t at = to_size(i * n + j);
      EXPECT_NEAR(sums[at], sum + wide(before[at]), 1e-6 * size);
      EXPECT_NEAR(bf16_to_float(narrow[at]), sum, std::abs(sum) / 256 + 1e-6 * size);
    }
  }
}

TEST(Matmul, KeepsItsBitsWhereverTheDataLies) {
  const int64_t m = 65, n = 70, k = 129;
  const Floats a = random_floats(m * k, 1), b = random_floats(k * n, 2);
  Floats expected(to_size(m * n));
  matmul(DType::kFloat32,
         1,
         m,
         n,
         k,
         {a.data(), k, 1},
         {b.data(), n, 1},
         {expected.data(), DType::kFloat32, n},
         false);
  for (const int64_t offset : kOffsets) {
    Misaligned a_moved(a, offset), b_moved(b, (offset + 3) % 16),
        c(Floats(expected.size()), offset);
    matmul(DType::kFloat32,
           1,
           m,
           n,
           k,
           {a_moved.data(), k, 1},
           {b_moved.data(), n, 1},
           {c.data(), DType::kFloat32, n},
           false);
    EXPECT_TRUE(same_bits(c.values(), expected)) << offset;
  }
}

TEST(Matmul, GivesFourThreadsAtOnceTheSameBits) {
  const int64_t m = 64, n = 96, k = 384;
  const Floats a = random_floats(m * k, 1), b = random_floats(k * n, 2);
  std::vector<Floats> results(4, Floats(to_size(m * n)));
  std::vector<std::thread> threads;
  for (Floats& result : results) {
    threads.emplace_back([&] {
      set_matmul_threads(1);
      for (int repeat = 0; repeat < 50; ++repeat) {
        matmul(DType::kFloat32,
               1,
               m,
               n,
               k,
               {a.data(), k, 1},
               {b.data(), n, 1},
               {result.data(), DType::kFloat32, n},
               repeat > 0 && repeat % 2 == 1);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const Floats& result : results) {
    EXPECT_TRUE(same_bits(result, results[0]));
  }
}

TEST(Matmul, SetsTheThreadsOfTheCallingThreadAlone) {
  set_matmul_threads(2);
  std::thread([] { set_matmul_threads(1); }).join();
  EXPECT_EQ(matmul_threads(), 2);
  set_matmul_threads(1);
  EXPECT_EQ(matmul_threads(), 1);
}

TEST(Matmul, RefusesWhatItCannotMean) {
  Floats x(16);
  const MatmulOperand plain = {x.data(), 4, 1};
  const MatmulOperand no_unit_stride = {x.data(), 8, 2};
  EXPECT_THROW(matmul(DType::kFloat32,
                      1,
                      2,
                      2,
                      2,
                      no_unit_stride,
                      plain,
                      {x.data(), DType::kFloat32, 4},
                      false),
               CheckFailure);
  EXPECT_THROW(
      matmul(DType::kFloat32, 1, 2, 2, 2, plain, plain, {x.data(), DType::kBFloat16, 4}, false),
      CheckFailure);
  EXPECT_THROW(
      matmul(DType::kFloat32, 2, 2, 2, 2, plain, plain, {x.data(), DType::kFloat32, 4}, false),
      CheckFailure)
      << "all results of the batch in one place";
  EXPECT_FALSE(matmul_supports(DType::kInt64));
  EXPECT_TRUE(matmul_supports(DType::kFloat32));
}

}  // namespace
}  // namespace brigade::kernels
