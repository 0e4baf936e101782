// SPDX-License-Identifier: Apache-2.0
#include "trainer/launch/join_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/rank_threads.h"

namespace brigade::launch {
namespace {

using ::testing::HasSubstr;

TEST(JoinWorld, IsOneRankWhereNoLauncherIs) {
  const auto world = join_world(RankIdentity());
  ASSERT_TRUE(world) << world.error().text;
  EXPECT_EQ((*world)->rank(), 0);
  EXPECT_EQ((*world)->size(), 1);
}

TEST(JoinWorld, ConnectsTheRanksThatTheEnvironmentNames) {
  const std::string port = std::to_string(testing::free_port());
  testing::run_ranks_over(
      3,
      [&](int64_t rank) {
        const Result<RankIdentity> who = identify({{"RANK", std::to_string(rank)},
                                                   {"WORLD_SIZE", "3"},
                                                   {"MASTER_ADDR", "127.0.0.1"},
                                                   {"MASTER_PORT", port}});
        return value_or_throw(
            join_world(value_or_throw(who), {.init_timeout = testing::kDefaultTimeout}));
      },
      [](collective::World& world) {
        EXPECT_EQ(world.size(), 3);
        int64_t ranks = int64_t{1} << world.rank();
        auto all = world.everyone("all");
        EXPECT_TRUE(all->all_reduce({collective::bytes_of(std::span<int64_t>(&ranks, 1))},
                                    DType::kInt64,
                                    collective::ReduceOp::kSum)
                        .wait());
        EXPECT_EQ(ranks, 0b111);
      });
}

TEST(JoinWorld, NamesTheRankThatNeverCame) {
  const RankIdentity first = {.rank = 0,
                              .world_size = 2,
                              .local_rank = 0,
                              .master_address = "127.0.0.1",
                              .master_port = testing::free_port(),
                              .source = LaunchSource::kExplicit,
                              .told_by = "a test"};
  const auto world = join_world(first, {.init_timeout = std::chrono::milliseconds(200)});
  ASSERT_FALSE(world);
  EXPECT_EQ(world.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(world.error().text, HasSubstr("1"));
}

}  // namespace
}  // namespace brigade::launch
