// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/module_units.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/parallel/zero/small_net.h"
#include "tests/support/rank_threads.h"

namespace brigade::zero {
namespace {

TEST(Successors, KnowWhatCameNextTheLastTime) {
  Successors successors(3);
  for (const size_t unit : {size_t{0}, size_t{1}, size_t{2}}) {
    EXPECT_EQ(successors.visit(unit), std::nullopt);
  }
  successors.end();
  EXPECT_EQ(successors.visit(0), 1U);
  EXPECT_EQ(successors.visit(1), 2U);
  EXPECT_EQ(successors.visit(2), std::nullopt);
}

TEST(Successors, TakeAUnitThatComesTwiceInARowForOne) {
  Successors successors(2);
  successors.visit(0);
  successors.visit(0);
  successors.visit(1);
  successors.end();
  EXPECT_EQ(successors.visit(0), 1U);
}

TEST(Successors, FollowAChange) {
  Successors successors(3);
  const std::vector<std::vector<size_t>> runs = {{0, 1}, {0, 2}};
  for (const std::vector<size_t>& run : runs) {
    for (const size_t unit : run) {
      successors.visit(unit);
    }
    successors.end();
  }
  EXPECT_EQ(successors.visit(0), 2U);
}

/// "what" of the ledger's entries since the last call.
std::vector<std::string> reasons(ShardedModule& sharded) {
  std::vector<std::string> all;
  for (const tensor::LedgerEntry& entry : sharded.program().ledger().entries()) {
    all.push_back(entry.reason);
  }
  sharded.program().ledger().clear();
  return all;
}

TEST(ModuleUnits, GatherTwiceAndReduceOncePerUnitAndStepAtStageThree) {
  testing::run_ranks(2, [](collective::World& world) {
    SmallNet net(0);
    ShardedModule sharded(world, net, {.stage = 3});
    const Optimizer optimizer = sgd(sharded.shards());
    sharded.program().ledger().clear();
    for (int64_t step = 0; step < 4; ++step) {
      const Samples batch = samples(step);
      loss_of(net, batch.inputs, batch.targets).backward();
      sharded.step(*optimizer);
      const std::vector<std::string> moved = reasons(sharded);
      EXPECT_EQ(moved.size(), 9U) << "step " << step << ": " << join(moved);
    }
  });
}

TEST(ModuleUnits, ReduceInOneOrderOnEveryRankWhateverIsMissing) {
  testing::run_ranks(3, [](collective::World& world) {
    SmallNet net(0);
    ShardedModule sharded(world, net, {.stage = 2});
    const Optimizer optimizer = sgd(sharded.shards());
    for (int64_t step = 0; step < 6; ++step) {
      const Samples batch = samples(step);
      // Each step another rank uses the first layer alone.
      (world.rank() == step % 3 ? net.first->forward(batch.inputs).sum()
                                : loss_of(net, batch.inputs, batch.targets))
          .backward();
      sharded.step(*optimizer, {.missing_gradient = MissingGradient::kZeros});
    }
    const double mine = net.second->weight.abs().sum().item<double>();
    EXPECT_NEAR(sharded.sum(mine), 3 * mine, 1e-9);
  });
}

}  // namespace
}  // namespace brigade::zero
