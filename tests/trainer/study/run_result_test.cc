// SPDX-License-Identifier: Apache-2.0
#include "trainer/study/run_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace brigade::study {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RunResult good(double step_ms, int64_t bytes) {
  return {.step_ms = {step_ms, 0.1 + 0.2}, .peak_bytes = {bytes}, .bytes_by_axis = {{"tp", bytes}}};
}

TEST(RunResult, SurvivesItsFile) {
  RunResult result = good(1.0 / 3.0, 1LL << 40);
  result.failure = "why \"so\"";
  result.last_lines = {"a", "b\tc"};
  result.seconds = 3.25;
  result.began = "2026-11-30T05:40:00Z";
  EXPECT_EQ(parse_run_result(to_json(result)).value(), result);
}

TEST(RunResult, WhatIsNoneIsRefused) {
  for (const char* text : {"", "{", "[]", "{\"failure\": 3}", "null"}) {
    const auto read = parse_run_result(text);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().text, HasSubstr("not the result of a run"));
  }
  RunResult odd;
  odd.last_lines = {"\xff"};
  EXPECT_TRUE(parse_run_result(to_json(odd))) << "bytes that are no UTF-8 do not spoil the file";
}

TEST(RunResult, RepeatsOfAPointAreTakenTogether) {
  const scaling::PointResult point =
      merged({.id = "p"}, {good(10, 5), {.failure = "x"}, good(12, 4)});
  EXPECT_EQ(point.failure, "");
  EXPECT_EQ(point.repeats, 2);
  EXPECT_THAT(point.step_ms, ElementsAre(10, 0.1 + 0.2, 12, 0.1 + 0.2));
  EXPECT_THAT(point.peak_bytes, ElementsAre(5));
  EXPECT_EQ(point.bytes_by_axis.at("tp"), 5);
}

TEST(RunResult, APointOfWhichNoRepeatRanHasFailed) {
  const scaling::PointResult point =
      merged({.id = "p"}, {{.failure = "x", .last_lines = {"l"}}, {.failure = "y"}});
  EXPECT_EQ(point.failure, "x");
  EXPECT_THAT(point.last_lines, ElementsAre("l"));
  EXPECT_EQ(merged({.id = "p"}, {}).failure, "not run");
}

}  // namespace
}  // namespace brigade::study
