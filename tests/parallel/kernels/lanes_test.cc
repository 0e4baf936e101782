// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/lanes.h"

#include "tests/parallel/kernels/kernel_checks.h"

namespace brigade::kernels {
namespace {

/// The order that the header promises, one addition after the other.
float sum_as_promised(const Floats& x) {
  Floats lanes(16, 0.0F);
  for (size_t i = 0; i < x.size(); ++i) {
    volatile float sum = lanes[i % 16] + x[i];
    lanes[i % 16] = sum;
  }
  for (size_t width = 8; width > 0; width /= 2) {
    for (size_t lane = 0; lane < width; ++lane) {
      lanes[lane] += lanes[lane + width];
    }
  }
  return lanes[0];
}

TEST(Lanes, SumInTheWrittenOrder) {
  for (const int64_t count : kOddSizes) {
    const Floats x = random_floats(count, 2);
    const float sum = sum_floats(count, [&](int64_t i) { return x[to_size(i)]; });
    EXPECT_EQ(std::bit_cast<uint32_t>(sum), std::bit_cast<uint32_t>(sum_as_promised(x))) << count;
  }
}

TEST(Lanes, FindTheMaximumWhereverItStands) {
  for (int64_t place = 0; place < 100; ++place) {
    Floats x = random_floats(100, 3);
    x[to_size(place)] = 5;
    EXPECT_EQ(max_floats(x.data(), 100), 5.0F);
  }
  EXPECT_EQ(max_floats<float>(nullptr, 0), -std::numeric_limits<float>::infinity());
}

TEST(Lanes, OrderFloatsOfBothSigns) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Floats ascending = {-infinity, -3e38F, -1.0F, -1e-44F, -0.0F, 0.0F, 1e-44F, 2.0F, infinity};
  for (size_t i = 0; i < ascending.size(); ++i) {
    const float max = max_floats(ascending.data(), static_cast<int64_t>(i + 1));
    EXPECT_EQ(std::bit_cast<uint32_t>(max), std::bit_cast<uint32_t>(ascending[i]));
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(max_floats(Floats{-1, -nan, -2}.data(), 3), -1.0F);
  EXPECT_TRUE(std::isnan(max_floats(Floats{-1, nan, -2}.data(), 3)));
}

TEST(Lanes, CallEachTermOnceInOrderOfLanes) {
  std::vector<int> calls(37, 0);
  sum_doubles(37, [&](int64_t i) {
    ++calls[to_size(i)];
    return 0.0;
  });
  EXPECT_EQ(calls, std::vector<int>(37, 1));
}

}  // namespace
}  // namespace brigade::kernels
