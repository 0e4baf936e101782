// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/laws.h"

#include <cmath>

#include <gtest/gtest.h>

namespace brigade::scaling {
namespace {

Law named(Scaling scaling, const std::string& name) {
  for (Law& law : laws(scaling)) {
    if (law.name == name) {
      return law;
    }
  }
  return {};
}

void expect_values(const Law& law, const Terms& coefficients, const Terms& values) {
  const Terms found = law.values(coefficients);
  for (size_t index = 0; index < kMaxTerms; ++index) {
    EXPECT_DOUBLE_EQ(found[index], values[index]) << law.name << " " << index;
  }
}

TEST(Laws, AmdahlIsASerialAndASharedPart) {
  const Law law = named(Scaling::kStrong, "Amdahl");
  expect_values(law, {10, 90}, {100, 0.1});
  EXPECT_DOUBLE_EQ(law.step_ms(9, {10, 90}), 20);
}

TEST(Laws, GustafsonsScaledSpeedUpIsNLessTheSerialPart) {
  const Law law = named(Scaling::kWeak, "Gustafson");
  const Terms coefficients = {0.8 / 50, 0.2 / 50};  // T1 = 50, f = .2
  expect_values(law, coefficients, {50, 0.2});
  const double speed_up = 10 * 50 / law.step_ms(10, coefficients);
  EXPECT_DOUBLE_EQ(speed_up, 10 - 0.2 * 9);
}

TEST(Laws, UslHasTheSameSpeedUpWhetherWorkGrowsOrNot) {
  const Terms coefficients = {100, 5, 0.1};
  const double expected = 8 / (1 + 0.05 * 7 + 0.001 * 8 * 7);
  const Law strong = named(Scaling::kStrong, "USL");
  const Law weak = named(Scaling::kWeak, "USL");
  expect_values(strong, coefficients, {100, 0.05, 0.001});
  expect_values(weak, coefficients, {100, 0.05, 0.001});
  EXPECT_DOUBLE_EQ(100 / strong.step_ms(8, coefficients), expected);
  EXPECT_DOUBLE_EQ(8 * 100 / weak.step_ms(8, coefficients), expected);
}

TEST(Laws, CostsAreTheSumOfTheirTerms) {
  const Law law = named(Scaling::kStrong, "A + B/N + C log N + D N");
  expect_values(law, {1, 2, 3, 4}, {1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(law.step_ms(8, {1, 2, 3, 4}), 1 + 0.25 + 9 + 32);
}

TEST(Laws, HaveNoFractionsOfAStepThatWouldTakeNoTime) {
  EXPECT_TRUE(std::isnan(named(Scaling::kStrong, "USL").values({0, 1, 1})[1]));
  EXPECT_TRUE(std::isnan(named(Scaling::kStrong, "Amdahl").values({-2, 1})[1]));
  EXPECT_TRUE(std::isnan(named(Scaling::kWeak, "Gustafson").values({0, 0})[1]));
}

TEST(Laws, SayWhenTheyDoNotApply) {
  const auto applying = [](Scaling scaling) {
    std::vector<std::string> names;
    for (const Law& law : laws(scaling)) {
      if (law.why_not.empty()) {
        names.push_back(law.name);
      }
    }
    return names;
  };
  const std::string costs = "A + B/N + C log N + D N";
  EXPECT_EQ(applying(Scaling::kStrong), (std::vector<std::string>{"Amdahl", "USL", costs}));
  EXPECT_EQ(applying(Scaling::kWeak), (std::vector<std::string>{"Gustafson", "USL", costs}));
  EXPECT_EQ(applying(Scaling::kMemoryConstrained), (std::vector<std::string>{costs}));
}

}  // namespace
}  // namespace brigade::scaling
