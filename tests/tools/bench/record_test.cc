// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/record.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "trainer/scaling/statistics.h"

namespace brigade::bench {
namespace {

StepTimes times(std::vector<double> step_ms) {
  StepTimes times;
  times.tokens_per_step = 2048;
  times.flops_per_token = 1e6;
  times.step_ms = std::move(step_ms);
  times.losses = {5.5, 5.4, 5.3, 5.2, 5.1, 5.0};
  return times;
}

TEST(BenchRecord, LeavesTheWarmUpOutOfTheTimes) {
  const nlohmann::json line = nlohmann::json::parse(to_json(times({900, 800, 102, 100, 104})));
  EXPECT_EQ(line["step_ms_median"], 102);
  EXPECT_EQ(line["step_ms_min"], 100);
  EXPECT_EQ(line["step_ms_max"], 104);
}

TEST(BenchRecord, DerivesRatesFromTheMedian) {
  const nlohmann::json line = nlohmann::json::parse(to_json(times({1, 1, 100, 100})));
  EXPECT_EQ(line["tokens_per_s"], 20480);
  EXPECT_EQ(line["gflops"], 20.5);
}

TEST(BenchRecord, ShowsTheFirstFiveLosses) {
  const nlohmann::json line = nlohmann::json::parse(to_json(times({1, 1, 1})));
  EXPECT_EQ(line["losses"].size(), 5U);
  EXPECT_EQ(line["losses"][4], 5.1);
}

TEST(BenchRecord, TimesASingleStepWhenThereIsNoOther) {
  const nlohmann::json line = nlohmann::json::parse(to_json(times({7})));
  EXPECT_EQ(line["step_ms_median"], 7);
}

TEST(BenchRecord, TakesTheMiddleOfAnEvenNumber) {
  EXPECT_EQ(scaling::median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(scaling::median({3, 1, 2}), 2);
}

}  // namespace
}  // namespace brigade::bench
