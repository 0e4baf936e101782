// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/sharded_module.h"

#include <cmath>
#include <functional>
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

const std::vector<int> kStages = {0, 1, 2, 3};

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
      expect_same(train_sharded(world, adamw, {.stage = stage, .passes = 3}, 3), plain);
    });
  }
}

TEST(ShardedModule, ReducesFewerPassesThanAnnouncedAsWell) {
  const Trained plain = train_plainly(sgd);
  for (const int stage : {2, 3}) {
    run_ranks(4, [&](World& world) {
      const ModuleOptions options = {.stage = stage, .replicas = 2, .passes = 3};
      expect_same(train_sharded(world, sgd, options, 2), plain);
    });
  }
}

TEST(ShardedModule, RefusesABackwardPassTooMany) {
  run_ranks(2, [](World& world) {
    SmallNet net(0);
    ShardedModule sharded(world, net, {.stage = 2});
    const Samples batch = samples(0);
    loss_of(net, batch.inputs, batch.targets).backward();
    const Error error = error_of([&] { loss_of(net, batch.inputs, batch.targets).backward(); });
    EXPECT_EQ(error.code, ErrorCode::kUsage);
    EXPECT_THAT(error.text, HasSubstr("by backward pass 2 since the last step"));
    sharded.zero_grad();
  });
}

TEST(ShardedModule, FreesWeightsOfUnitsThatAreNotInUse) {
  run_ranks(2, [](World& world) {
    SmallNet net(0);
    ShardedModule sharded(world, net, {.stage = 3});
    EXPECT_TRUE(is_freed(net.first->weight));
    const Samples batch = samples(0);
    const at::Tensor loss = loss_of(net, batch.inputs, batch.targets);
    EXPECT_TRUE(is_freed(net.first->weight));
    bool was_freed = false;
    loss.register_hook([&](const at::TensorBase&) { was_freed = is_freed(net.first->weight); });
    loss.backward();
    EXPECT_TRUE(was_freed);
    EXPECT_TRUE(is_freed(net.first->weight));
    EXPECT_FALSE(net.first->weight.grad().defined());
    sharded.zero_grad();
  });
}

TEST(ShardedModule, NamesAFreedWeightThatAForwardTouches) {
  run_ranks(2, [](World& world) {
    SmallNet net(0);
    const ShardedModule sharded(world, net, {.stage = 3});
    try {
      net.second->forward(at::ones({2, 5}));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const c10::Error& error) {
      EXPECT_THAT(error.what_without_backtrace(), HasSubstr("parameter second."));
      EXPECT_THAT(error.what_without_backtrace(), HasSubstr("unit second"));
    }
  });
}

TEST(ShardedModule, EvaluatesUnitByUnitWithoutGradients) {
  run_ranks(2, [](World& world) {
    SmallNet net(world.rank());
    const ShardedModule sharded(world, net, {.stage = 3});
    const c10::NoGradGuard no_history;
    SmallNet first(0);
    const Samples batch = samples(3);
    for (int pass = 0; pass < 3; ++pass) {
      EXPECT_TRUE(unit(net, batch.inputs).equal(first.forward(batch.inputs))) << pass;
    }
  });
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

TEST(ShardedModule, NamesAParameterThatGotNoGradientOnOneRankAndGoesOn) {
  for (const int stage : {0, 1, 2}) {
    run_ranks(3, [&](World& world) {
      SmallNet net(0);
      ShardedModule sharded(world, net, {.stage = stage});
      const Optimizer optimizer = sgd(sharded.shards());
      const Samples batch = samples(0);
      // Only the middle rank leaves the second layer out.
      (world.rank() == 1 ? net.first(batch.inputs).sum()
                         : loss_of(net, batch.inputs, batch.targets))
          .backward();
      const Error error = error_of([&] { sharded.step(*optimizer); });
      EXPECT_EQ(error.code, ErrorCode::kUsage);
      EXPECT_THAT(error.text, HasSubstr("parameter scale got no gradient on rank 1"));
      EXPECT_TRUE(net.first->bias.equal(SmallNet(0).first->bias));
      loss_of(net, batch.inputs, batch.targets).backward();
      EXPECT_FALSE(sharded.step(*optimizer).skipped);
    });
  }
}

TEST(ShardedModule, NamesAParameterThatNoRankUses) {
  for (const int stage : kStages) {
    run_ranks(2, [&](World& world) {
      SmallNet net(0);
      ShardedModule sharded(world, net, {.stage = stage});
      const Optimizer optimizer = sgd(sharded.shards());
      const auto backward = [&] { unit(net.first, samples(0).inputs).sum().backward(); };
      backward();
      EXPECT_THAT(error_of([&] { sharded.step(*optimizer); }).text,
                  HasSubstr("parameter scale got no gradient on rank 0"));
      backward();
      sharded.step(*optimizer, {.missing_gradient = MissingGradient::kZeros});
      sharded.unshard();
      EXPECT_FALSE(net.first->bias.equal(SmallNet(0).first->bias));
      EXPECT_TRUE(at::allclose(net.second->weight, SmallNet(0).second->weight, 0.01));  // decay
    });
  }
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
