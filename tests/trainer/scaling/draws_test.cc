// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/draws.h"

#include <vector>

#include <gtest/gtest.h>

namespace brigade::scaling {
namespace {

TEST(Draws, RepeatForTheSameSeedAndDifferForAnother) {
  Draws one(7, "a");
  Draws same(7, "a");
  Draws other_seed(8, "a");
  Draws other_purpose(7, "b");
  int seed_agrees = 0;
  int purpose_agrees = 0;
  for (int draw = 0; draw < 100; ++draw) {
    const size_t value = one.below(1000);
    EXPECT_EQ(value, same.below(1000));
    seed_agrees += value == other_seed.below(1000) ? 1 : 0;
    purpose_agrees += value == other_purpose.below(1000) ? 1 : 0;
  }
  EXPECT_LT(seed_agrees, 5);
  EXPECT_LT(purpose_agrees, 5);
}

TEST(Draws, ReachEachIndexAboutEquallyOften) {
  Draws draws(1, "uniform");
  std::vector<int> hits(7, 0);
  for (int draw = 0; draw < 70000; ++draw) {
    ++hits.at(draws.below(7));
  }
  for (const int hit : hits) {
    EXPECT_NEAR(hit, 10000, 400);  // four standard deviations
  }
}

}  // namespace
}  // namespace brigade::scaling
