// SPDX-License-Identifier: Apache-2.0
#include "parallel/executor/agreement.h"

#include <functional>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/rank_threads.h"

namespace brigade::executor {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Every rank's result, from the terms that `terms_of` gives it; checked to be equal.
StepResult result_of(int64_t ranks, const std::function<LocalTerms(int64_t rank)>& terms_of) {
  std::vector<StepResult> results(static_cast<size_t>(ranks));
  testing::run_ranks(ranks, [&](collective::World& world) {
    std::vector<int64_t> members(static_cast<size_t>(ranks));
    for (size_t i = 0; i < members.size(); ++i) {
      members[i] = static_cast<int64_t>(i);
    }
    const auto group = world.group(members, "world");
    results[static_cast<size_t>(world.rank())] = agree(*group, terms_of(world.rank()), 4);
  });
  for (const StepResult& result : results) {
    EXPECT_EQ(result.finite, results[0].finite);
    EXPECT_EQ(result.first_bad, results[0].first_bad);
    if (result.finite) {
      EXPECT_EQ(result.loss, results[0].loss);
      EXPECT_EQ(result.gradient_norm, results[0].gradient_norm);
    }
  }
  return results[0];
}

LocalTerms terms(double loss, double squares, std::string bad = "", int64_t position = 0) {
  LocalTerms made;
  made.loss.add(loss);
  made.squares.add(squares);
  made.bad_gradient = std::move(bad);
  made.bad_position = position;
  return made;
}

TEST(Agreement, DividesTheLossOnceAndTakesTheNormOverAllRanks) {
  const StepResult result = result_of(
      3, [](int64_t rank) { return terms(rank == 2 ? 6.0 : 0.0, rank == 0 ? 16.0 : 4.5); });
  EXPECT_EQ(result.loss, 1.5);
  EXPECT_EQ(result.gradient_norm, 5.0);
  EXPECT_TRUE(result.finite);
  EXPECT_EQ(result.first_bad, "");
}

TEST(Agreement, AddsExactly) {
  const StepResult result = result_of(3, [](int64_t rank) {
    return terms(rank == 0 ? 1e300 : rank == 1 ? 4.0 : -1e300, 1.0);
  });
  EXPECT_EQ(result.loss, 1.0);
}

TEST(Agreement, NamesTheLossBeforeAnyGradient) {
  const StepResult result = result_of(3, [](int64_t rank) {
    return rank == 2 ? terms(kNan, 0.0) : terms(1.0, kNan, "gradient of a", 0);
  });
  EXPECT_FALSE(result.finite);
  EXPECT_EQ(result.first_bad, "loss on rank 2");
}

TEST(Agreement, NamesTheFirstGradientOfTheModelThenTheLowestRank) {
  const StepResult result = result_of(4, [](int64_t rank) {
    switch (rank) {
      case 0: return terms(1.0, 1.0);
      case 1: return terms(1.0, kNan, "gradient of late", 9);
      default: return terms(1.0, kNan, "gradient of early", 2);
    }
  });
  EXPECT_EQ(result.first_bad, "gradient of early on rank 2");
}

TEST(Agreement, CutsAnAbsurdName) {
  const StepResult result = result_of(
      2, [](int64_t) { return terms(1.0, kNan, "gradient of " + std::string(5000, 'x')); });
  EXPECT_EQ(result.first_bad.size(), 511U);
}

TEST(Agreement, OnTheLossAlone) {
  testing::run_ranks(2, [](collective::World& world) {
    const auto group = world.group({0, 1}, "world");
    ExactSum loss;
    loss.add(world.rank() == 0 ? 3.0 : 5.0);
    EXPECT_EQ(agree_on_loss(*group, loss, 2), 4.0);
  });
}

}  // namespace
}  // namespace brigade::executor
