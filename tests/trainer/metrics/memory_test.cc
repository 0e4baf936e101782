// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/memory.h"

#include <vector>

#include <gtest/gtest.h>

namespace brigade::metrics {
namespace {

TEST(Memory, GrowsWithWhatIsTouchedAndThePeakStays) {
  const int64_t before = resident_bytes();
  EXPECT_GT(before, 0);
  constexpr int64_t kSize = 64 << 20;
  {
    const std::vector<char> touched(kSize, 1);
    EXPECT_GT(resident_bytes(), before + kSize / 2);
    EXPECT_EQ(touched.back(), 1);
  }
  EXPECT_GT(peak_resident_bytes(), before + kSize / 2);
}

}  // namespace
}  // namespace brigade::metrics
