// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/rows.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace brigade::tensor {
namespace {

TEST(EmptyRows, KeepsRowsOffMultiplesOfAPage) {
  for (const int64_t width : {1024, 2048, 3072}) {
    const at::Tensor rows = empty_rows({2, 3, width}, at::kFloat);
    EXPECT_EQ(rows.sizes(), at::IntArrayRef({2, 3, width}));
    EXPECT_EQ(rows.strides(), at::IntArrayRef({3 * (width + 16), width + 16, 1}));
  }
  EXPECT_EQ(empty_rows({3, 2048}, at::kBFloat16).stride(0), 2048 + 32);
}

TEST(EmptyRows, IsContiguousElsewhere) {
  for (const int64_t width : {0, 1, 384, 1023, 1025}) {
    EXPECT_TRUE(empty_rows({2, 3, width}, at::kFloat).is_contiguous()) << width;
  }
  EXPECT_TRUE(empty_rows({1024}, at::kFloat).is_contiguous());
  EXPECT_TRUE(empty_rows({}, at::kFloat).is_contiguous());
}

TEST(Rows, SeesAnyShapeWithoutACopy) {
  const at::Tensor padded = empty_rows({2, 3, 1024}, at::kFloat);
  const Rows<float> rows(padded);
  EXPECT_EQ(rows.count(), 6);
  EXPECT_EQ(rows.width(), 1024);
  rows.at(4)[7] = 5.0F;
  EXPECT_EQ(padded[1][1][7].item<float>(), 5.0F);
  const at::Tensor scalar = at::full({}, 2.0F);
  EXPECT_EQ(Rows<float>(scalar).count(), 1);
  EXPECT_EQ(Rows<float>(scalar).at(0)[0], 2.0F);
  EXPECT_EQ(Rows<float>(at::empty({3, 0})).count(), 0);
}

TEST(Rows, CopiesWhatHasNoRows) {
  const at::Tensor columns = at::arange(6, at::kFloat).view({2, 3}).t();
  const Rows<float> rows(columns);
  EXPECT_EQ(rows.count(), 3);
  for (int64_t row = 0; row < 3; ++row) {
    for (int64_t i = 0; i < 2; ++i) {
      EXPECT_EQ(rows.at(row)[i], columns[row][i].item<float>());
    }
  }
}

}  // namespace
}  // namespace brigade::tensor
