// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/lines.h"

#include <gtest/gtest.h>

namespace brigade::metrics {
namespace {

StepRecord record() {
  return {.step = 7,
          .loss = 4.123456,
          .grad_norm = 1.23456,
          .lr = 8e-4,
          .tokens_per_s = 12345.4,
          .step_ms = 82.06,
          .memory_bytes = 425485783,
          .tensor_bytes = 225485783,
          .time = 1.5,
          .skipped = false};
}

TEST(Lines, ShowAStepWithFiveDecimalsOfLoss) {
  EXPECT_EQ(step_line(record(), 200, 15.8, false),
            "step:   7/200  loss: 4.12346  grad_norm: 1.2346  lr: 8.00e-04  memory: 0.21GiB  "
            "tokens/s: 12,345  step ms: 82.1  left: 0:00:16");
}

TEST(Lines, AreColouredOnlyWhenAsked) {
  EXPECT_EQ(step_line(record(), 200, 1, false).find('\033'), std::string::npos);
  EXPECT_NE(step_line(record(), 200, 1, true).find("\033[32mloss: 4.12346\033[0m"),
            std::string::npos);
}

TEST(Lines, SayThatAStepWasSkipped) {
  StepRecord skipped = record();
  skipped.skipped = true;
  EXPECT_NE(step_line(skipped, 200, 1, false).find("skipped"), std::string::npos);
}

TEST(Lines, ShowAValidationInThreeUnits) {
  // ln 4: two bits per byte, perplexity 4.
  EXPECT_EQ(validation_line({.step = 10, .loss = 1.3862943611198906, .time = 0}),
            "validation: step 10  loss: 1.38629  bits per byte: 2.0000  perplexity: 4.00");
}

TEST(Lines, DrawABar) {
  EXPECT_EQ(bar(0, 20), "[----------------------------------------]   0%  0/20");
  EXPECT_EQ(bar(10, 20), "[####################--------------------]  50%  10/20");
  EXPECT_EQ(bar(20, 20), "[########################################] 100%  20/20");
}

TEST(Lines, WriteDurationsAsHoursMinutesSeconds) {
  EXPECT_EQ(duration_text(0), "0:00:00");
  EXPECT_EQ(duration_text(3725.4), "1:02:05");
  EXPECT_EQ(duration_text(-1), "0:00:00");
}

}  // namespace
}  // namespace brigade::metrics
