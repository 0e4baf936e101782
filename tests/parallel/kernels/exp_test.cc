// SPDX-License-Identifier: Apache-2.0
#include "parallel/kernels/exp.h"

#include <limits>

#include "parallel/kernels/dispatch.h"
#include "tests/parallel/kernels/kernel_checks.h"

namespace brigade::kernels {

// Not in an anonymous namespace: the loader resolves it.
BRIGADE_CLONES void exp_of_each(const float* x, int64_t count, float* y);

BRIGADE_CLONES void exp_of_each(const float* x, int64_t count, float* y) {
  for (int64_t i = 0; i < count; ++i) {
    y[i] = exp(x[i]);
  }
}

namespace {

TEST(Exp, IsWithinOneUlpAndAHalfOverAllFloats) {
  // Every 1009th bit pattern (a prime), both signs.
  double worst = 0;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 1009) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    worst = std::max(worst, ulps(exp(x), std::exp(static_cast<double>(x))));
  }
  EXPECT_LT(worst, 1.5);
}

TEST(Exp, MeetsItsEndsExactly) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(exp(0.0F), 1.0F);
  EXPECT_EQ(exp(-0.0F), 1.0F);
  EXPECT_EQ(exp(infinity), infinity);
  EXPECT_EQ(exp(-infinity), 0.0F);
  EXPECT_EQ(exp(1e30F), infinity);
  EXPECT_EQ(exp(-1e30F), 0.0F);
  EXPECT_TRUE(std::isnan(exp(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_GT(exp(-103.0F), 0.0F) << "subnormals are kept";
}

TEST(Exp, GivesALoopTheBitsOfALoneCall) {
  const Floats x = random_floats(1003, 1, -110, 95);
  for (const int64_t count : {1, 3, 15, 17, 31, 33, 100, 1003}) {
    Floats y(to_size(count));
    exp_of_each(x.data(), count, y.data());
    for (size_t i = 0; i < y.size(); ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(y[i]), std::bit_cast<uint32_t>(exp(x[i]))) << x[i];
    }
  }
}

TEST(Sigmoid, KeepsBothSmallSides) {
  for (const float x : {-80.0F, -20.0F, -1.0F, 0.0F, 0.5F, 20.0F, 80.0F}) {
    const double e = std::exp(-static_cast<double>(x));
    const Sigmoid s = sigmoid(x);
    EXPECT_LT(ulps(s.value, 1.0 / (1.0 + e)), 3.0) << x;
    EXPECT_LT(ulps(s.complement, e / (1.0 + e)), 3.0) << x;
  }
  EXPECT_TRUE(std::isnan(sigmoid(std::numeric_limits<float>::quiet_NaN()).value));
}

}  // namespace
}  // namespace brigade::kernels
