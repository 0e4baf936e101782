// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/scaling_page.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "tests/trainer/report/occurrences.h"
#include "tests/trainer/scaling/sample_results.h"

namespace brigade::report {
namespace {

using scaling::Results;
using testing::HasSubstr;
using testing::Not;

constexpr size_t kMostBytes = 2U << 20U;

TEST(ScalingPage, AStudyHasAllItsSections) {
  const std::string html = scaling_page(scaling::oversubscribed_study());
  for (const std::string id : {"speed",
                               "throughput",
                               "breakdown",
                               "step",
                               "memory",
                               "laws",
                               "failures",
                               "machine",
                               "provenance"}) {
    EXPECT_EQ(occurrences(html, concat("<section id=\"", id, "\">")), 1) << id;
  }
  EXPECT_THAT(html, HasSubstr("15 of 16"));
  EXPECT_THAT(html, HasSubstr("not identifiable: 4 sizes, needs 5"));
  EXPECT_THAT(html, HasSubstr("FLOP per token = 6 × parameters + attention"));
}

TEST(ScalingPage, WhatWasNotMeasuredHasNoSection) {
  const std::string html = scaling_page(scaling::all_failed_study());
  EXPECT_THAT(html, HasSubstr("Nothing was measured: all 3 points failed."));
  for (const std::string id : {"speed", "breakdown", "step", "memory", "laws"}) {
    EXPECT_EQ(occurrences(html, concat("<section id=\"", id, "\">")), 0) << id;
  }
  EXPECT_THAT(scaling_page({}), HasSubstr("The study has no points."));
}

TEST(ScalingPage, OnePointSaysNothingAboutScaling) {
  const std::string html = scaling_page(scaling::one_point_study());
  EXPECT_THAT(html, HasSubstr("1 point ran, none with more ranks"));
  EXPECT_THAT(html, Not(HasSubstr("<section id=\"speed\">")));
}

TEST(ScalingPage, PeersStandBesideUsAndNeverInTheHeadline) {
  const std::string html = scaling_page(scaling::peer_study());
  EXPECT_THAT(html, testing::ContainsRegex("<h1>On 2 ranks, small dp trains"));
  EXPECT_THAT(html,
              testing::ContainsRegex(
                  "brigade trains 18,606 tokens per second, ddp 1[0-9],[0-9]+, fsdp2 1"));
}

TEST(ScalingPage, TextsFromOutsideStayTexts) {
  Results results = scaling::oversubscribed_study();
  const std::string bad = "<script>alert('x')</script>";
  results.provenance = {bad, bad, bad, bad, 2, bad, bad, 1};
  for (auto& point : results.points) {
    point.point.id = point.point.series = point.point.peer = point.point.mesh = bad;
    point.point.schedule = point.point.model = bad;
    point.failure = point.failure.empty() ? "" : bad;
    point.last_lines = {bad};
    point.bytes_by_axis = {{bad, 5}};
    for (auto& rank : point.one_step) {
      for (auto& stretch : rank) {
        stretch.label = bad;
      }
    }
  }
  for (auto& series : results.series) {
    series.name = bad;
    for (auto& fit : series.fits) {
      fit.law = fit.formula = bad;
      fit.why_not = fit.why_not.empty() ? "" : bad;
    }
    for (auto& ratio : series.ratios) {
      ratio.axis = bad;
    }
  }
  results.peaks[0].dtype = bad;
  const std::string html = scaling_page(results);
  EXPECT_EQ(occurrences(html, "<script>"), 1);
  EXPECT_THAT(html, Not(HasSubstr(bad)));
}

TEST(ScalingPage, NumbersThatDoNotExistBreakNothing) {
  Results results = scaling::oversubscribed_study();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (size_t i = 0; i < results.points.size(); i += 2) {
    results.points[i].tokens_per_s = {nan, {nan, nan}};
    results.points[i].median_step_ms = {std::numeric_limits<double>::infinity(), {nan, nan}};
    results.points[i].mfu = nan;
    for (auto& rank : results.points[i].breakdown_by_rank) {
      rank.fill(nan);
    }
    for (auto& rank : results.points[i].one_step) {
      rank.front().end_ms = nan;
    }
  }
  for (auto& series : results.series) {
    for (auto& fit : series.fits) {
      fit.aicc = nan;
      fit.curve.emplace_back(nan, nan);
    }
    series.karp_flatt.front().serial_fraction = nan;
    series.ratios.front().by_ranks.front().second = 0;
  }
  const std::string html = scaling_page(results);
  EXPECT_THAT(html, Not(testing::ContainsRegex("[\" ,MLH]-?(nan|inf)[\", <L]")));
}

TEST(ScalingPage, IsSmallWhateverTheTimelines) {
  Results results = scaling::oversubscribed_study();
  for (auto& point : results.points) {
    for (auto& rank : point.one_step) {
      std::vector<scaling::Stretch> many;
      for (int i = 0; i < 5000; ++i) {
        many.push_back({static_cast<scaling::Part>(i * 7 % 9),
                        i * 0.05,
                        (i + 1) * 0.05,
                        i % 8,
                        "all_gather dp_shard 1.2 MiB"});
      }
      rank = many;
    }
  }
  EXPECT_LT(scaling_page(results).size(), kMostBytes);
}

}  // namespace
}  // namespace brigade::report
