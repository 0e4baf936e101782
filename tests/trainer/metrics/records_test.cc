// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/records.h"

#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace brigade::metrics {
namespace {

TEST(Records, AreJsonThatReadsBackToTheSameBits) {
  const StepRecord record = {.step = 3,
                             .loss = 1.0 / 3.0,
                             .grad_norm = 1e-300,
                             .lr = 8e-4,
                             .tokens_per_s = 1e6,
                             .step_ms = 0.1,
                             .memory_bytes = int64_t{1} << 40,
                             .tensor_bytes = 5,
                             .time = 12.5,
                             .skipped = true};
  const nlohmann::json json = nlohmann::json::parse(to_json(record));
  EXPECT_EQ(json.size(), 10);
  EXPECT_EQ(json["step"], 3);
  EXPECT_EQ(json["loss"].get<double>(), record.loss);
  EXPECT_EQ(json["grad_norm"].get<double>(), record.grad_norm);
  EXPECT_EQ(json["lr"].get<double>(), record.lr);
  EXPECT_EQ(json["tokens_per_s"].get<double>(), record.tokens_per_s);
  EXPECT_EQ(json["step_ms"].get<double>(), record.step_ms);
  EXPECT_EQ(json["memory_bytes"], record.memory_bytes);
  EXPECT_EQ(json["tensor_bytes"], record.tensor_bytes);
  EXPECT_EQ(json["time"].get<double>(), record.time);
  EXPECT_EQ(json["skipped"], true);
}

TEST(Records, WriteWhatIsNotFiniteAsNull) {
  StepRecord record;
  record.loss = std::numeric_limits<double>::quiet_NaN();
  record.grad_norm = std::numeric_limits<double>::infinity();
  const nlohmann::json json = nlohmann::json::parse(to_json(record));
  EXPECT_TRUE(json["loss"].is_null());
  EXPECT_TRUE(json["grad_norm"].is_null());
}

TEST(Records, GiveAValidationInBitsAndPerplexity) {
  const ValidationRecord record = {.step = 1, .loss = 1.3862943611198906, .time = 2};
  const nlohmann::json json = nlohmann::json::parse(to_json(record));
  EXPECT_DOUBLE_EQ(json["bits_per_byte"].get<double>(), 2.0);
  EXPECT_DOUBLE_EQ(json["perplexity"].get<double>(), 4.0);
}

}  // namespace
}  // namespace brigade::metrics
