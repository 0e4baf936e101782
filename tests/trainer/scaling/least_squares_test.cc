// SPDX-License-Identifier: Apache-2.0
#include "trainer/scaling/least_squares.h"

#include <cmath>

#include <gtest/gtest.h>

namespace brigade::scaling {
namespace {

LogProblem communication(const Terms& truth) {
  LogProblem problem = {.terms = 4};
  for (const double n : {1.0, 2.0, 3.0, 4.0, 8.0, 16.0}) {
    const Terms row = {1.0, 1.0 / n, std::log2(n), n};
    problem.add(row, std::log(LogProblem::sum(row, truth)), n);
  }
  return problem;
}

TEST(LeastSquares, FindsTheCoefficientsThatMadeTheValues) {
  const Terms truth = {3.0, 200.0, 0.5, 0.02};
  const auto found = fit_free(communication(truth));
  ASSERT_TRUE(found);
  for (size_t term = 0; term < kMaxTerms; ++term) {
    EXPECT_NEAR((*found)[term], truth[term], 1e-6);
  }
}

TEST(LeastSquares, FindsThemFromADistantStartToo) {
  const Terms truth = {3.0, 200.0, 0.5, 0.02};
  const auto found = fit_free(communication(truth), {1.0, 1.0, 1.0, 1.0});
  ASSERT_TRUE(found);
  for (size_t term = 0; term < kMaxTerms; ++term) {
    EXPECT_NEAR((*found)[term], truth[term], 1e-5);
  }
}

TEST(LeastSquares, LeavesSignsFreeUnlessToldOtherwise) {
  const Terms truth = {30.0, 200.0, -2.0, 0.02};
  const LogProblem problem = communication(truth);
  const auto open = fit_free(problem);
  ASSERT_TRUE(open);
  EXPECT_NEAR((*open)[2], -2.0, 1e-6);

  const auto bounded = fit_nonnegative(problem);
  ASSERT_TRUE(bounded);
  for (const double term : *bounded) {
    EXPECT_GE(term, 0.0);
  }
  EXPECT_EQ((*bounded)[2], 0.0);
  // No small move into what is allowed is better: it is a minimum.
  for (size_t term = 0; term < kMaxTerms; ++term) {
    for (const double move : {1e-3, -1e-3}) {
      Terms moved = *bounded;
      moved[term] += move;
      if (moved[term] >= 0.0) {
        EXPECT_GE(problem.miss(moved), problem.miss(*bounded));
      }
    }
  }
}

TEST(LeastSquares, HeavierRowsPullHarder) {
  LogProblem problem = {.terms = 1};
  problem.add({1.0}, 0.0, 3.0);
  problem.add({1.0}, 1.0, 1.0);
  const auto found = fit_free(problem);
  ASSERT_TRUE(found);
  EXPECT_NEAR((*found)[0], std::exp(0.25), 1e-7);
}

TEST(LeastSquares, GivesNothingWhenTermsLookAlike) {
  LogProblem problem = {.terms = 2};
  for (const double n : {1.0, 2.0, 4.0}) {
    problem.add({n, 3.0 * n}, std::log(n), 1.0);
  }
  EXPECT_FALSE(fit_free(problem));
}

TEST(LeastSquares, GivesNothingForFewerRowsThanTerms) {
  LogProblem problem = {.terms = 2};
  problem.add({1.0, 1.0}, 0.0, 1.0);
  EXPECT_FALSE(fit_free(problem));
}

TEST(LeastSquares, GivesNothingForATermThatIsZeroEverywhere) {
  LogProblem problem = {.terms = 2};
  problem.add({1.0, 0.0}, 0.0, 1.0);
  problem.add({2.0, 0.0}, 0.5, 1.0);
  EXPECT_FALSE(fit_free(problem));
}

TEST(LeastSquares, MissIsInfiniteWhereASumIsNotPositive) {
  LogProblem problem = {.terms = 1};
  problem.add({1.0}, 0.0, 1.0);
  EXPECT_TRUE(std::isinf(problem.miss({-1.0})));
  EXPECT_EQ(problem.miss({1.0}), 0.0);
}

}  // namespace
}  // namespace brigade::scaling
