// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/matmul.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

constexpr MatmulTable kLibtorch{MatmulBackend::kLibtorch, MatmulBackend::kLibtorch};
constexpr MatmulTable kOneDnn{MatmulBackend::kOneDnn, MatmulBackend::kOneDnn};

enum class Layout { kRows, kTransposed, kGaps, kNoUnitStride };

/// [batch, rows, columns] laid out in one of the ways that the seam takes.
at::Tensor matrix(int64_t batch, int64_t rows, int64_t columns, Layout layout, double phase) {
  switch (layout) {
    case Layout::kRows: return numbers({batch, rows, columns}, phase);
    case Layout::kTransposed: return numbers({batch, columns, rows}, phase).transpose(1, 2);
    case Layout::kGaps:
      return numbers({batch, rows + 1, columns + 3}, phase).slice(1, 1).slice(2, 0, columns);
    case Layout::kNoUnitStride:
      return numbers({batch, rows * 2, columns * 2}, phase).slice(1, 0, {}, 2).slice(2, 0, {}, 2);
  }
  return {};
}

/// Both backends against the product in fp64.
void expect_product(const at::Tensor& a, const at::Tensor& b, Layout out_layout, bool accumulate) {
  const at::Tensor before = matrix(a.size(0), a.size(1), b.size(2), out_layout, 2.5);
  at::Tensor wanted = at::bmm(a.to(at::kDouble), b.to(at::kDouble));
  if (accumulate) {
    wanted += before;
  }
  for (const MatmulTable& table : {kLibtorch, kOneDnn}) {
    at::Tensor out = matrix(a.size(0), a.size(1), b.size(2), out_layout, 2.5);
    matmul_into(table, a, b, out, accumulate);
    EXPECT_TRUE(at::allclose(out.to(at::kDouble), wanted, 1e-5, 1e-5))
        << table.to_string() << ": " << a.sizes() << a.strides() << " times " << b.sizes()
        << b.strides() << " into " << out.strides() << (accumulate ? ", added" : "");
  }
}

TEST(Matmul, GivesTheSameByBothBackendsForEveryLayout) {
  for (const int64_t batch : {1, 3}) {
    for (const Layout a :
         {Layout::kRows, Layout::kTransposed, Layout::kGaps, Layout::kNoUnitStride}) {
      for (const Layout b :
           {Layout::kRows, Layout::kTransposed, Layout::kGaps, Layout::kNoUnitStride}) {
        for (const Layout out : {Layout::kRows, Layout::kTransposed, Layout::kGaps}) {
          for (const bool accumulate : {false, true}) {
            expect_product(
                matrix(batch, 5, 7, a, 0.3), matrix(batch, 7, 6, b, 0.9), out, accumulate);
          }
        }
      }
    }
  }
}

TEST(Matmul, TakesRowsColumnsAndNothing) {
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{1, 5, 4},
                                {5, 1, 4},
                                {5, 4, 1},
                                {1, 1, 1},
                                {0, 3, 2},
                                {3, 0, 2},
                                {3, 2, 0}}) {
    for (const bool accumulate : {false, true}) {
      expect_product(matrix(2, m, k, Layout::kRows, 0.3),
                     matrix(2, k, n, Layout::kTransposed, 0.9),
                     Layout::kRows,
                     accumulate);
    }
  }
}

TEST(Matmul, WritesFloatSumsOfBf16Operands) {
  const at::Tensor a = numbers({1, 9, 33}, 0.1).to(at::kBFloat16);
  const at::Tensor b = numbers({1, 33, 5}, 0.5).to(at::kBFloat16);
  const at::Tensor wanted = at::bmm(a.to(at::kDouble), b.to(at::kDouble));
  for (const MatmulTable& table : {kLibtorch, kOneDnn}) {
    at::Tensor wide = at::empty({1, 9, 5});
    at::Tensor narrow = at::empty({1, 9, 5}, at::kBFloat16);
    matmul_into(table, a, b, wide, false);
    matmul_into(table, a, b, narrow, false);
    EXPECT_TRUE(at::allclose(wide.to(at::kDouble), wanted, 0.01, 0.03)) << table.to_string();
    EXPECT_TRUE(at::allclose(narrow.to(at::kDouble), wanted, 0.01, 0.03)) << table.to_string();
  }
}

TEST(Matmul, MultipliesDoublesWhateverTheTableSays) {
  const at::Tensor a = numbers({1, 4, 3}, 0.1).to(at::kDouble);
  at::Tensor out = at::empty({1, 4, 4}, at::kDouble);
  matmul_into(kOneDnn, a, a.transpose(1, 2), out, false);
  EXPECT_TRUE(at::equal(out, at::bmm(a, a.transpose(1, 2))));
}

/// The bits of a product of `m` x 512 x 64: backends round differently.
at::Tensor product(const MatmulTable& table, int64_t m) {
  const at::Tensor a = numbers({1, m, 512}, 0.2);
  at::Tensor out = at::empty({1, m, 64});
  matmul_into(table, a, numbers({1, 512, 64}, 0.8), out, false);
  return out;
}

TEST(Matmul, ReadsATableThatItWrote) {
  for (const MatmulBackend small : {MatmulBackend::kLibtorch, MatmulBackend::kOneDnn}) {
    for (const MatmulBackend large : {MatmulBackend::kLibtorch, MatmulBackend::kOneDnn}) {
      const MatmulTable table{small, large};
      EXPECT_EQ(parse_matmul_table(table.to_string()), table);
    }
  }
  EXPECT_EQ(parse_matmul_table("small=onednn"), std::nullopt);
  EXPECT_EQ(parse_matmul_table(""), std::nullopt);
}

TEST(Matmul, AsksTheTableBySizeClass) {
  const MatmulTable small_by_libtorch{MatmulBackend::kLibtorch, MatmulBackend::kOneDnn};
  const MatmulTable large_by_libtorch{MatmulBackend::kOneDnn, MatmulBackend::kLibtorch};
  const int64_t edge = MatmulTable::kSmall / (512 * 64);
  for (const int64_t m : {edge - 1, edge}) {
    const bool small = m < edge;
    EXPECT_TRUE(at::equal(product(small_by_libtorch, m), product(small ? kLibtorch : kOneDnn, m)));
    EXPECT_TRUE(at::equal(product(large_by_libtorch, m), product(small ? kOneDnn : kLibtorch, m)));
  }
}

TEST(Matmul, RecordsNoHistory) {
  const at::Tensor a = numbers({1, 4, 3}, 0.1).requires_grad_(true);
  at::Tensor out = at::empty({1, 4, 4});
  const at::NoGradGuard no_grad;
  matmul_into(kLibtorch, a, a.transpose(1, 2), out, false);
  EXPECT_FALSE(out.requires_grad());
}

TEST(Matmul, TableSaysWhoServesWhat) {
  EXPECT_EQ(MatmulTable().to_string(), "small=onednn large=onednn");
  EXPECT_EQ((MatmulTable{MatmulBackend::kLibtorch, MatmulBackend::kOneDnn}.to_string()),
            "small=libtorch large=onednn");
}

TEST(Matmul, MeasuringLeavesATableThatWorks) {
  const at::Tensor a = matrix(1, 64, 64, Layout::kRows, 0.1);
  at::Tensor out = at::empty({1, 64, 64});
  matmul_into(measure_matmul(64, 64), a, a, out, false);
  EXPECT_TRUE(at::allclose(out, at::bmm(a, a), 1e-4, 1e-4));
}

}  // namespace
}  // namespace brigade::tensor
