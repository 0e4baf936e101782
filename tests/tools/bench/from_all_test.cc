// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/from_all.h"

#include <gtest/gtest.h>

#include "tests/support/rank_threads.h"

namespace brigade::bench {
namespace {

TEST(FromAll, GivesEveryRankTheNumbersByRank) {
  testing::run_ranks(3, [](collective::World& world) {
    const auto value = 1.5 * static_cast<double>(world.rank());
    EXPECT_EQ(value_or_throw(from_all(world, value)), (std::vector<double>{0, 1.5, 3}));
  });
}

}  // namespace
}  // namespace brigade::bench
