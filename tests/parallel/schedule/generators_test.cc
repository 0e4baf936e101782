// SPDX-License-Identifier: Apache-2.0
#include "parallel/schedule/generators.h"

#include <string>

#include <gtest/gtest.h>

#include "parallel/base/check.h"
#include "parallel/base/text.h"

namespace brigade::schedule {
namespace {

/// "F0 F1 B0": the row without its stage, which is checked to be `rank`.
std::string row(Kind kind, int64_t ranks, int64_t microbatches, int64_t rank) {
  std::vector<std::string> words;
  for (const Action& action : compute_row(kind, ranks, microbatches, rank)) {
    EXPECT_EQ(action.stage, StageId(rank));
    words.push_back(concat(to_string(action.kind), action.microbatch));
  }
  return join(words, " ");
}

TEST(Generators, OneForwardOneBackwardOfFourRanksIsTheTextbookRow) {
  const auto of_rank = [](int64_t rank) { return row(Kind::kOneForwardOneBackward, 4, 8, rank); };
  EXPECT_EQ(of_rank(0), "F0 F1 F2 F3 B0 F4 B1 F5 B2 F6 B3 F7 B4 B5 B6 B7");
  EXPECT_EQ(of_rank(1), "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 F6 B4 F7 B5 B6 B7");
  EXPECT_EQ(of_rank(2), "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 F6 B5 F7 B6 B7");
  EXPECT_EQ(of_rank(3), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 F7 B7");
}

TEST(Generators, GPipeRunsAllForwardsThenAllBackwardsFromTheLast) {
  for (int64_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(row(Kind::kGPipe, 4, 8, rank), "F0 F1 F2 F3 F4 F5 F6 F7 B7 B6 B5 B4 B3 B2 B1 B0");
  }
}

TEST(Generators, FewerMicrobatchesThanRanksShortenTheWarmUp) {
  const auto of_rank = [](int64_t rank) { return row(Kind::kOneForwardOneBackward, 4, 2, rank); };
  EXPECT_EQ(of_rank(0), "F0 F1 B0 B1");
  EXPECT_EQ(of_rank(1), "F0 F1 B0 B1");
  EXPECT_EQ(of_rank(2), "F0 F1 B0 B1");
  EXPECT_EQ(of_rank(3), "F0 B0 F1 B1");
}

TEST(Generators, RefuseARankOutsideThePipeline) {
  EXPECT_THROW(compute_row(Kind::kGPipe, 2, 1, 2), CheckFailure);
}

}  // namespace
}  // namespace brigade::schedule
