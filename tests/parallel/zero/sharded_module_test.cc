// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/sharded_module.h"

#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/result.h"
#include "parallel/base/text.h"
#include "tests/parallel/zero/small_net.h"
#include "tests/support/rank_threads.h"

namespace brigade::zero {
namespace {

using collective::World;
using ::testing::HasSubstr;
using testing::run_ranks;

const std::vector<int> kStages = {0, 1};

void expect_same(const Trained& found, const Trained& expected) {
  ASSERT_EQ(found.losses.size(), expected.losses.size());
  for (size_t i = 0; i < found.losses.size(); ++i) {
    EXPECT_NEAR(found.losses[i], expected.losses[i], 1e-5) << "step " << i;
  }
  ASSERT_EQ(found.parameters.size(), expected.parameters.size());
  for (size_t i = 0; i < found.parameters.size(); ++i) {
    EXPECT_TRUE(at::allclose(found.parameters[i], expected.parameters[i], 1e-4, 1e-5))
        << "parameter " << i << "\n"
        << found.parameters[i] << "\n"
        << expected.parameters[i];
  }
}

/// What `body` throws on this rank.
Error error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Exception& exception) {
    return exception.error();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(ShardedModule, TrainsAsLibtorchAloneDoesOnAnyNumberOfRanks) {
  for (const MakeOptimizer& make : {MakeOptimizer(sgd), MakeOptimizer(adamw)}) {
    const Trained plain = train_plainly(make);
    for (const int stage : kStages) {
      for (int64_t ranks = 1; ranks <= 4; ++ranks) {
        SCOPED_TRACE(concat("stage ", stage, ", ", ranks, " ranks"));
        run_ranks(ranks, [&](World& world) {
          expect_same(train_sharded(world, make, {.stage = stage}), plain);
        });
      }
    }
  }
}

TEST(ShardedModule, TrainsTheSameWithReplicasOfItsShards) {
  const Trained plain = train_plainly(adamw);
  for (const int stage : kStages) {
    run_ranks(4, [&](World& world) {
      expect_same(train_sharded(world, adamw, {.stage = stage, .replicas = 2}), plain);
    });
  }
}

TEST(ShardedModule, TrainsTheSameInUnits) {
  const Trained plain = train_plainly(adamw);
  for (const int stage : kStages) {
    run_ranks(2, [&](World& world) {
      expect_same(train_sharded(world, adamw, {.stage = stage, .units = {"first", "second"}}),
                  plain);
    });
  }
}

TEST(ShardedModule, AddsUpTheGradientsOfSeveralBackwardPasses) {
  const Trained plain = train_plainly(adamw);
  for (const int stage : kStages) {
    run_ranks(2, [&](World& world) {
      expect_same(train_sharded(world, adamw, {.stage = stage}, 3), plain);
    });
  }
}

TEST(ShardedModule, BeginsWithTheFirstRanksValuesOnEveryRank) {
  run_ranks(3, [](World& world) {
    SmallNet net(world.rank());
    const ShardedModule sharded(world, net);
    const SmallNet first(0);
    for (size_t i = 0; i < first.parameters().size(); ++i) {
      EXPECT_TRUE(net.parameters()[i].equal(first.parameters()[i])) << i;
    }
    EXPECT_TRUE(net.offset.equal(first.offset));
  });
}

TEST(ShardedModule, GivesEachRankItsShareOfTheStates) {
  run_ranks(3, [](World& world) {
    SmallNet net(0);
    ShardedModule sharded(world, net, {.stage = 1});
    int64_t elements = 0;
    for (const auto& [name, shard] : sharded.named_shards()) {
      EXPECT_TRUE(shard.requires_grad()) << name;
      elements += shard.numel();
    }
    EXPECT_LE(elements, 30);  // 59 in all: rows of 7, 1, 5, 1 elements and a scalar
    EXPECT_EQ(sharded.global_count(elements), 7 * 5 + 5 + 5 * 3 + 3 + 1);
  });
}

TEST(ShardedModule, NamesItsShardsAsTheModuleDoesItsTrainedParameters) {
  run_ranks(2, [](World& world) {
    SmallNet net(0);
    const ShardedModule sharded(world, net, {.stage = 1});
    std::vector<std::string> names;
    for (const auto& [name, shard] : sharded.named_shards()) {
      names.push_back(name);
    }
    EXPECT_EQ(
        names,
        (std::vector<std::string>{
            "scale", "nothing", "first.weight", "first.bias", "second.weight", "second.bias"}));
  });
}

TEST(ShardedModule, SharesABatchOutWithoutGapOrOverlap) {
  run_ranks(4, [](World& world) {
    SmallNet net(0);
    ShardedModule sharded(world, net);
    const at::Tensor batch = at::arange(10);
    const at::Tensor mine = sharded.share(batch);
    EXPECT_EQ(sharded.global_count(mine.size(0)), 10);
    EXPECT_EQ(sharded.sum(mine.sum()), 45.0);
    EXPECT_EQ(mine[0].item<int64_t>(), (world.rank() * 10) / 4);
  });
}

TEST(ShardedModule, LeavesTheModuleUsableWhenItIsGone) {
  run_ranks(2, [](World& world) {
    SmallNet net(0);
    { const ShardedModule sharded(world, net, {.stage = 1}); }
    EXPECT_TRUE(net.forward(samples(0).inputs).equal(SmallNet(0).forward(samples(0).inputs)));
  });
}

TEST(ShardedModule, RefusesWhatCannotBe) {
  run_ranks(2, [](World& world) {
    SmallNet net(0);
    const auto make = [&](const ModuleOptions& options) {
      return error_of([&] { const ShardedModule sharded(world, net, options); });
    };
    EXPECT_THAT(make({.stage = 9}).text, HasSubstr("9"));
    EXPECT_THAT(make({.replicas = 3}).text, HasSubstr("replicas must divide"));
    EXPECT_THAT(make({.units = {"third"}}).text, HasSubstr("\"third\""));
    net.second->to(at::kDouble);
    EXPECT_THAT(make({}).text, HasSubstr("second.weight"));
  });
}

TEST(ShardedModule, RefusesOptimizersThatLookAtTheWholeModel) {
  run_ranks(1, [](World& world) {
    SmallNet net(0);
    ShardedModule sharded(world, net);
    torch::optim::LBFGS lbfgs(sharded.shards());
    EXPECT_THAT(error_of([&] { sharded.step(lbfgs); }).text, HasSubstr("LBFGS"));
  });
}

TEST(ShardedModule, NamesAParameterWithoutAGradientOnEveryRankAndGoesOn) {
  run_ranks(3, [](World& world) {
    SmallNet net(0);
    ShardedModule sharded(world, net, {.stage = 1});
    const Optimizer optimizer = sgd(sharded.shards());
    const at::Tensor loss = net.first(samples(0).inputs).sum() * net.scale;
    // Only the middle rank leaves the second layer out.
    (world.rank() == 1 ? loss : loss + net.forward(samples(0).inputs).sum()).backward();
    const Error error = error_of([&] { sharded.step(*optimizer); });
    EXPECT_EQ(error.code, ErrorCode::kUsage);
    EXPECT_THAT(error.text, HasSubstr("parameter second.weight got no gradient on rank 1"));
    EXPECT_TRUE(net.first->weight.equal(SmallNet(0).first->weight));
    EXPECT_FALSE(net.first->weight.grad().defined());

    net.first(samples(0).inputs).sum().backward();
    sharded.step(*optimizer, {.missing_gradient = MissingGradient::kZeros});
    EXPECT_FALSE(net.first->weight.equal(SmallNet(0).first->weight));
  });
}

TEST(ShardedModule, NamesAGradientThatIsNotFiniteAndStopsOrSkips) {
  run_ranks(2, [](World& world) {
    SmallNet net(0);
    ShardedModule sharded(world, net);
    const Optimizer optimizer = sgd(sharded.shards());
    const auto backward = [&](double factor) {
      (net.forward(samples(0).inputs).sum() * (world.rank() == 1 ? factor : 1.0)).backward();
    };
    backward(INFINITY);
    const Error error = error_of([&] { sharded.step(*optimizer); });
    EXPECT_EQ(error.code, ErrorCode::kNonFinite);
    EXPECT_THAT(error.text, HasSubstr("gradient of scale is not finite"));
    backward(INFINITY);
    const StepReport skipped = sharded.step(*optimizer, {.non_finite = NonFinite::kSkip});
    EXPECT_TRUE(skipped.skipped);
    EXPECT_EQ(skipped.first_bad, error.text);
    EXPECT_TRUE(net.first->weight.equal(SmallNet(0).first->weight));
    backward(1.0);
    EXPECT_FALSE(sharded.step(*optimizer).skipped);
  });
}

TEST(ShardedModule, NoticesThatAParameterWasReplaced) {
  run_ranks(2, [](World& world) {
    SmallNet net(0);
    ShardedModule sharded(world, net);
    const Optimizer optimizer = sgd(sharded.shards());
    if (world.rank() == 1) {
      net.second->bias.set_data(at::ones({3}));
    }
    net.forward(samples(0).inputs).sum().backward();
    EXPECT_THAT(
        error_of([&] { sharded.step(*optimizer); }).text,
        HasSubstr("parameter second.bias no longer is the memory that is sharded, on rank 1"));
  });
}

TEST(ShardedModule, DropsGradientsWithoutAStep) {
  run_ranks(2, [](World& world) {
    SmallNet net(0);
    ShardedModule sharded(world, net);
    net.forward(samples(0).inputs).sum().backward();
    sharded.zero_grad();
    EXPECT_FALSE(net.first->weight.grad().defined());
  });
}

}  // namespace
}  // namespace brigade::zero
