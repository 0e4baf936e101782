// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/innermost.h"

#include <gtest/gtest.h>

namespace brigade::scaling {
namespace {

constexpr size_t kNobody = Hold::kNobody;
using Holds = std::vector<Hold>;

TEST(Innermost, GivesEachInstantToTheShortestIntervalAroundIt) {
  EXPECT_EQ(innermost({{0, 10, 90}, {1, 20, 30}}, 0, 100),
            (Holds{{kNobody, 0, 10}, {0, 10, 20}, {1, 20, 30}, {0, 30, 90}, {kNobody, 90, 100}}));
}

TEST(Innermost, IsNobodysWhereThereIsNothing) {
  EXPECT_EQ(innermost({}, 5, 9), (Holds{{kNobody, 5, 9}}));
  EXPECT_EQ(innermost({}, 5, 5), Holds{});
}

TEST(Innermost, CutsWhatReachesBeyondTheEndsOrBeyondWhatIsAroundIt) {
  EXPECT_EQ(innermost({{0, -50, 50}, {1, 45, 500}, {2, 600, 700}}, 0, 100),
            (Holds{{0, 0, 45}, {1, 45, 50}, {kNobody, 50, 100}}));
}

TEST(Innermost, OfEqualIntervalsTheFirstLiesWithin) {
  EXPECT_EQ(innermost({{0, 1, 2}, {1, 1, 2}}, 0, 3),
            (Holds{{kNobody, 0, 1}, {0, 1, 2}, {kNobody, 2, 3}}));
}

TEST(Innermost, NeighboursTouch) {
  EXPECT_EQ(innermost({{0, 0, 5}, {1, 5, 9}, {2, 0, 9}, {3, 7, 7}}, 0, 9),
            (Holds{{0, 0, 5}, {1, 5, 9}}));
}

}  // namespace
}  // namespace brigade::scaling
