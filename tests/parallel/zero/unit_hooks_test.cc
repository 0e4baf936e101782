// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/unit_hooks.h"

#include <optional>

#include <gtest/gtest.h>

#include "tests/parallel/zero/small_net.h"
#include "tests/support/rank_threads.h"

namespace brigade::zero {
namespace {

TEST(UnitHooks, LeadFromASubmoduleToItsUnit) {
  testing::run_ranks(2, [](collective::World& world) {
    SmallNet net(0);
    EXPECT_EQ(owned_unit(*net.first).units, nullptr);
    std::optional<ShardedModule> sharded;
    sharded.emplace(world, net, ModuleOptions{.stage = 2});
    const OwnedUnit first = owned_unit(*net.first);
    const OwnedUnit second = owned_unit(*net.second);
    const OwnedUnit rest = owned_unit(net);
    ASSERT_NE(first.units, nullptr);
    EXPECT_EQ(first.units, second.units);
    EXPECT_EQ(first.units, rest.units);
    EXPECT_NE(first.unit, second.unit);
    EXPECT_NE(first.unit, rest.unit);
  });
}

TEST(UnitHooks, KnowNothingOfASubmoduleThatIsNoUnit) {
  testing::run_ranks(2, [](collective::World& world) {
    SmallNet net(0);
    const ShardedModule sharded(world, net, {.stage = 2, .units = {"first"}});
    EXPECT_NE(owned_unit(*net.first).units, nullptr);
    EXPECT_EQ(owned_unit(*net.second).units, nullptr);
  });
}

TEST(UnitHooks, AreGoneWithTheShardedModule) {
  testing::run_ranks(2, [](collective::World& world) {
    SmallNet net(0);
    { const ShardedModule sharded(world, net, {.stage = 2}); }
    EXPECT_EQ(owned_unit(*net.first).units, nullptr);
    const Samples batch = samples(0);
    loss_of(net, batch.inputs, batch.targets).backward();
    EXPECT_TRUE(net.first->weight.grad().defined());
  });
}

}  // namespace
}  // namespace brigade::zero
