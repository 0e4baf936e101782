// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/module_step.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/rank_threads.h"

namespace brigade::zero {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kNames = {"a", "b", "c"};

/// Agrees on three ranks, each with what `findings` says, and gives each rank's result to `check`.
void on_three(const std::function<StepFindings(int64_t rank)>& findings,
              NonFinite non_finite,
              const std::function<void(const Result<StepReport>&)>& check) {
  testing::run_ranks(3, [&](collective::World& world) {
    const auto everyone = world.everyone("all");
    check(agree_on_step(*everyone, findings(world.rank()), kNames, non_finite));
  });
}

StepFindings squares(double value) {
  StepFindings findings;
  findings.squares.add(value);
  return findings;
}

TEST(ModuleStep, ReportsTheNormOfAllRanks) {
  on_three([](int64_t rank) { return squares(rank == 0 ? 1 : 4); },
           NonFinite::kStop,
           [](const Result<StepReport>& report) {
             ASSERT_TRUE(report);
             EXPECT_EQ(report->gradient_norm, 3.0);
             EXPECT_FALSE(report->skipped);
           });
}

TEST(ModuleStep, NamesTheFirstMissingParameterAndItsLowestRank) {
  on_three(
      [](int64_t rank) {
        StepFindings findings = squares(1);
        findings.missing = rank == 0 ? 2 : 1;
        return findings;
      },
      NonFinite::kSkip,
      [](const Result<StepReport>& report) {
        ASSERT_FALSE(report);
        EXPECT_EQ(report.error().code, ErrorCode::kUsage);
        EXPECT_THAT(report.error().text, HasSubstr("parameter b got no gradient on rank 1"));
      });
}

TEST(ModuleStep, NamesAMovedParameterBeforeAMissingOne) {
  on_three(
      [](int64_t rank) {
        StepFindings findings = squares(1);
        findings.missing = 0;
        findings.moved = rank == 2 ? 2 : -1;
        return findings;
      },
      NonFinite::kStop,
      [](const Result<StepReport>& report) {
        ASSERT_FALSE(report);
        EXPECT_THAT(report.error().text, HasSubstr("parameter c no longer is the memory"));
        EXPECT_THAT(report.error().text, HasSubstr("rank 2"));
      });
}

TEST(ModuleStep, StopsOrSkipsForAGradientThatIsNotFinite) {
  const auto bad_on_two = [](int64_t rank) {
    StepFindings findings = squares(rank == 2 ? INFINITY : 1);
    findings.bad = rank == 2 ? 1 : -1;
    return findings;
  };
  on_three(bad_on_two, NonFinite::kStop, [](const Result<StepReport>& report) {
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, ErrorCode::kNonFinite);
    EXPECT_EQ(report.error().text, "the gradient of b is not finite on rank 2");
  });
  on_three(bad_on_two, NonFinite::kSkip, [](const Result<StepReport>& report) {
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->skipped);
    EXPECT_EQ(report->first_bad, "the gradient of b is not finite on rank 2");
  });
}

}  // namespace
}  // namespace brigade::zero
