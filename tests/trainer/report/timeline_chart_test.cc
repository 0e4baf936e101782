// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/timeline_chart.h"

#include <limits>

#include <gmock/gmock.h>

#include "tests/trainer/report/occurrences.h"

namespace brigade::report {
namespace {

TEST(TimelineChart, ShortStretchesBecomeThatWhichTakesMostOfThem) {
  const std::vector<Span> spans = thinned({{0, 0, 10, "long"},
                                           {1, 10, 10.3, "a"},
                                           {2, 10.3, 10.9, "b"},
                                           {1, 10.9, 11, "c"},
                                           {0, 11, 20, "tail"}},
                                          1);
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[0].tip, "long");
  EXPECT_EQ(spans[1].category, 2U);
  EXPECT_EQ(spans[1].tip, "");
  EXPECT_DOUBLE_EQ(spans[1].begin, 10);
  EXPECT_DOUBLE_EQ(spans[1].end, 11);
}

TEST(TimelineChart, GapsStayGaps) {
  const std::vector<Span> spans = thinned({{0, 0, 0.1, ""}, {0, 50, 50.1, ""}}, 1);
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_DOUBLE_EQ(spans[1].begin, 50);
}

TEST(TimelineChart, ThinningKeepsTheWholeAndBoundsTheCount) {
  std::vector<Span> spans;
  for (int i = 0; i < 100'000; ++i) {
    spans.push_back({static_cast<size_t>(i % 3), i * 0.01, (i + 1) * 0.01, "x"});
  }
  const std::vector<Span> thin = thinned(spans, 1);
  EXPECT_LE(thin.size(), 1001U);
  double covered = 0;
  for (const Span& span : thin) {
    covered += span.end - span.begin;
  }
  EXPECT_NEAR(covered, 1000, 1e-6);
}

TEST(TimelineChart, ItsSizeHasABoundWhateverTheRecording) {
  TimelineChart chart = {"t", "d", "ms", {"a", "b"}, {}};
  for (int lane = 0; lane < 8; ++lane) {
    Lane spans{"rank"};
    for (int i = 0; i < 20'000; ++i) {
      spans.spans.push_back(
          {static_cast<size_t>(i % 2), i * 1.0, i + 1.0, "a long text to show on hovering"});
    }
    chart.lanes.push_back(spans);
  }
  EXPECT_LT(draw(chart, 1064, 2400).size(), 80'000U);
}

TEST(TimelineChart, LongStretchesHaveTipsAndTimesThatDoNotExistAreLeftOut) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const TimelineChart chart = {
      "t",
      "d",
      "ms",
      {"a", "b"},
      {{"rank 0", {{0, 0, 5, "forward"}, {1, nan, 7, "n"}, {1, 9, 8, "back"}}}}};
  const std::string svg = draw(chart, 500, 100);
  EXPECT_EQ(occurrences(svg, "<title>forward</title>"), 1);
  EXPECT_EQ(occurrences(svg, "c1"), 0);
  EXPECT_THAT(svg, testing::Not(testing::HasSubstr("nan")));
  EXPECT_EQ(draw({"t", "d", "ms", {}, {{"rank 0", {}}}}, 500, 100), "");
}

}  // namespace
}  // namespace brigade::report
