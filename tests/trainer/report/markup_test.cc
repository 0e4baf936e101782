// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/markup.h"

#include <limits>

#include <gtest/gtest.h>

#include "parallel/base/check.h"

namespace brigade::report {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Markup, TextIsSafeInTagsAndAttributes) {
  EXPECT_EQ(escaped("<a href=\"x\">Tom & 'Jerry'</a>"),
            "&lt;a href=&quot;x&quot;&gt;Tom &amp; &#39;Jerry&#39;&lt;/a&gt;");
  EXPECT_EQ(escaped("2 × 3 – σ €\n\t"), "2 × 3 – σ €\n\t");
}

TEST(Markup, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(escaped(std::string_view("a\0b", 3)), "a\uFFFDb");
  EXPECT_EQ(escaped("\x1b[31mred"), "\uFFFD[31mred");
  EXPECT_EQ(escaped("cut \xC3"), "cut \uFFFD");
  EXPECT_EQ(escaped("\x80\xFF<"), "\uFFFD\uFFFD&lt;");
}

TEST(Markup, NumbersHaveSeparatorsAndARealMinus) {
  EXPECT_EQ(fixed(1234567.891, 1), "1,234,567.9");
  EXPECT_EQ(fixed(999, 0), "999");
  EXPECT_EQ(fixed(-1234.5, 2), "−1,234.50");
  EXPECT_EQ(fixed(-0.001, 1), "0.0");
  EXPECT_EQ(percent(0.8126), "81.3 %");
  EXPECT_EQ(significant(0.0012345, 3), "0.00123");
  EXPECT_EQ(significant(12345, 3), "12,345");
  EXPECT_EQ(significant(-2.5e-9, 2), "−2.5e-09");
  EXPECT_EQ(significant(0, 3), "0");
  EXPECT_EQ(exact(0.1), "0.1");
}

TEST(Markup, NumbersThatDoNotExistAreADash) {
  for (const double value : {kNan, kInfinity, -kInfinity}) {
    EXPECT_EQ(fixed(value, 2), "–");
    EXPECT_EQ(significant(value, 2), "–");
    EXPECT_EQ(percent(value), "–");
    EXPECT_EQ(exact(value), "");
  }
}

TEST(Markup, CoordinatesAreFiniteTenths) {
  EXPECT_EQ(coordinate(12.34), "12.3");
  EXPECT_EQ(coordinate(7), "7");
  EXPECT_EQ(coordinate(-0.04), "0");
  EXPECT_THROW(coordinate(kNan), CheckFailure);
}

TEST(Markup, WidthCountsLettersNotBytes) {
  EXPECT_DOUBLE_EQ(text_width("ab", 10), text_width("σ×", 10));
}

}  // namespace
}  // namespace brigade::report
