// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/convert.h"

#include <limits>

#include "tests/parallel/kernels/kernel_checks.h"

namespace brigade::kernels {
namespace {

/// Every bf16 value, finite or not.
Halves all_halves() {
  Halves values(0x10000);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = {static_cast<uint16_t>(i)};
  }
  return values;
}

TEST(Convert, WidensEveryValueAndBringsItBack) {
  const Halves values = all_halves();
  Floats wide_values(values.size());
  Halves back(values.size());
  widen_rows(1, 0x10000, values.data(), 0, wide_values.data(), 0);
  narrow_rows(1, 0x10000, wide_values.data(), 0, back.data(), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(wide_values[i])) {
      EXPECT_TRUE(std::isnan(widen(back[i]))) << i;
    } else {
      EXPECT_EQ(back[i], values[i]) << i;
    }
  }
}

TEST(Convert, RoundsToNearestEvenAtEveryPlaceOfARow) {
  const float ulp = 0x1p-7F;  // of bf16 in [1, 2)
  const Floats values = {
      1 + 0.49F * ulp, 1 + 0.5F * ulp, 1 + 1.5F * ulp, 1 + 0.51F * ulp, 0x1p-133F};
  const Halves wanted = narrowed({1, 1, 1 + 2 * ulp, 1 + ulp, 0x1p-133F});
  for (const int64_t count : kOddSizes) {
    Floats row(to_size(count));
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = values[i % values.size()];
    }
    Halves narrow_row(row.size());
    narrow_rows(1, count, row.data(), 0, narrow_row.data(), 0);
    for (size_t i = 0; i < row.size(); ++i) {
      EXPECT_EQ(narrow_row[i], wanted[i % wanted.size()]) << i << " of " << count;
    }
  }
}

TEST(Convert, KeepsToItsColumns) {
  const Halves from = narrowed(random_floats(5 * 40, 1));
  Floats to(to_size(5 * 50), -1);
  widen_rows(5, 33, from.data(), 40, to.data(), 50);
  for (size_t i = 0; i < to.size(); ++i) {
    const size_t row = i / 50, column = i % 50;
    EXPECT_EQ(to[i], column < 33 ? widen(from[row * 40 + column]) : -1.0F);
  }
  Halves back(from.size());
  narrow_rows(5, 33, to.data(), 50, back.data(), 40);
  for (size_t i = 0; i < back.size(); ++i) {
    EXPECT_EQ(back[i], i % 40 < 33 ? from[i] : BFloat16()) << i;
  }
}

}  // namespace
}  // namespace brigade::kernels
