// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/axis.h"

#include <cmath>

#include <gmock/gmock.h>

#include "parallel/base/check.h"

namespace brigade::report {
namespace {

using testing::ElementsAre;

std::vector<std::string> texts(const Axis& axis) {
  std::vector<std::string> texts;
  for (const double tick : axis.ticks) {
    texts.push_back(tick_text(axis, tick));
  }
  return texts;
}

TEST(Axis, LinearTicksAreRoundAndHoldTheRange) {
  EXPECT_THAT(texts(nice_axis(Scale::kLinear, 0, 87.3, 6)),
              ElementsAre("0", "20", "40", "60", "80", "100"));
  EXPECT_THAT(texts(nice_axis(Scale::kLinear, 0, 0.43, 6)),
              ElementsAre("0.0", "0.1", "0.2", "0.3", "0.4", "0.5"));
  EXPECT_THAT(texts(nice_axis(Scale::kLinear, -3, 4, 4)), ElementsAre("−5", "0", "5"));
}

TEST(Axis, LogarithmicTicksArePowersOfTwoOrRoundNumbers) {
  EXPECT_THAT(texts(nice_axis(Scale::kLog2, 0.4, 6, 7)),
              ElementsAre("1/4", "1/2", "1", "2", "4", "8"));
  EXPECT_THAT(texts(nice_axis(Scale::kLog2, 1, 4096, 7)),
              ElementsAre("1", "4", "16", "64", "256", "1,024", "4,096"));
  EXPECT_THAT(texts(nice_axis(Scale::kLog, 9000, 150000, 7)),
              ElementsAre("5,000", "10,000", "20,000", "50,000", "100,000", "200,000"));
  EXPECT_THAT(texts(nice_axis(Scale::kLog, 0.03, 0.04, 7)), ElementsAre("0.02", "0.05"));
}

TEST(Axis, AnyRangeGetsFewDistinctTicksThatHoldIt) {
  for (const Scale scale : {Scale::kLinear, Scale::kLog2, Scale::kLog}) {
    for (double low = 1e-6; low < 1e9; low *= 7.3) {
      for (const double ratio : {1.0, 1.0001, 1.7, 3.0, 40.0, 9e4}) {
        const Axis axis = nice_axis(scale, low, low * ratio, 7);
        EXPECT_TRUE(axis.holds(low) && axis.holds(low * ratio)) << low << ' ' << ratio;
        EXPECT_LT(axis.low, axis.high);
        EXPECT_GE(axis.ticks.size(), 2U) << low << ' ' << ratio;
        EXPECT_LE(axis.ticks.size(), 9U) << low << ' ' << ratio;
        EXPECT_TRUE(std::isfinite(axis.position(low, 0, 100)));
      }
    }
  }
}

TEST(Axis, PositionsRunFromOneEndToTheOther) {
  const Axis axis = nice_axis(Scale::kLog2, 1, 16, 7);
  EXPECT_DOUBLE_EQ(axis.position(1, 300, 20), 300);
  EXPECT_DOUBLE_EQ(axis.position(4, 300, 20), 160);
  EXPECT_DOUBLE_EQ(axis.position(16, 300, 20), 20);
}

TEST(Axis, ARangeThatIsNoneIsABugOfTheCaller) {
  EXPECT_THROW(nice_axis(Scale::kLinear, 0, std::nan(""), 5), CheckFailure);
  EXPECT_THROW(nice_axis(Scale::kLog2, 0, 1, 5), CheckFailure);
}

}  // namespace
}  // namespace brigade::report
