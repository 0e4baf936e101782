// SPDX-License-Identifier: Apache-2.0
#include "parallel/transport/endpoint.h"

#include <vector>

#include <gtest/gtest.h>

namespace brigade::transport {
namespace {

/// Who is blamed by a rank that waits for `candidates`, when rank r waits for `waits[r]`.
int64_t blamed(const std::vector<int64_t>& candidates,
               const std::vector<int64_t>& waits,
               int64_t silent_rank = -1) {
  return follow_waits(
      candidates,
      static_cast<int64_t>(waits.size()),
      [&](int64_t rank) { return rank == silent_rank; },
      [&](int64_t rank) { return waits[static_cast<size_t>(rank)]; });
}

TEST(FollowWaits, EndsAtTheRankThatWaitsForNobody) {
  EXPECT_EQ(blamed({1}, {1, 2, 3, -1}), 3);
  EXPECT_EQ(blamed({2}, {1, 2, -1, -1}), 2);
}

TEST(FollowWaits, PrefersASilentRankToAnIdleOne) {
  EXPECT_EQ(blamed({1, 2}, {1, -1, 3, -1}, 3), 3);
  EXPECT_EQ(blamed({1, 2}, {1, -1, -1, -1}, 2), 2);
}

TEST(FollowWaits, TakesTheFirstCandidateOutOfACircle) {
  EXPECT_EQ(blamed({1}, {1, 2, 0}), 1);
}

TEST(AsSeenByOthers, KeepsCodesThatAllRanksShare) {
  EXPECT_EQ(as_seen_by_others({ErrorCode::kTimeout, "late", 1}).code, ErrorCode::kTimeout);
  EXPECT_EQ(as_seen_by_others({ErrorCode::kIo, "disk", 1}).code, ErrorCode::kAborted);
}

}  // namespace
}  // namespace brigade::transport
