// SPDX-License-Identifier: Apache-2.0
#include "trainer/optim/optimizer.h"

#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/base/check.h"

namespace brigade::optim {
namespace {

using Floats = std::vector<float>;

Floats ramp(int64_t size, float scale) {
  Floats values(static_cast<size_t>(size));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = scale * static_cast<float>(static_cast<int64_t>(i * 7 % 11) - 5);
  }
  return values;
}

void step(Optimizer& optimizer, int64_t number, double clip, Floats& weight, const Floats& grad) {
  const Optimizer::Target target{weight, grad};
  optimizer.apply(number, 0.01, clip, std::span(&target, 1));
}

/// The update of one element, straight from the paper in double.
TEST(Optimizer, AdamWFollowsThePaper) {
  Optimizer optimizer({});
  optimizer.add("w", 3, true);
  Floats weight = {1.0F, -2.0F, 0.5F};
  const Floats gradient = {0.3F, -0.1F, 0.0F};
  std::vector<double> expected(weight.begin(), weight.end());
  std::vector<double> m(3);
  std::vector<double> v(3);
  for (int64_t number = 1; number <= 5; ++number) {
    step(optimizer, number, 0.5, weight, gradient);
    for (size_t i = 0; i < 3; ++i) {
      const double g = 0.5 * static_cast<double>(gradient[i]);
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.95 * v[i] + 0.05 * g * g;
      const double m_hat = m[i] / (1 - std::pow(0.9, number));
      const double v_hat = v[i] / (1 - std::pow(0.95, number));
      expected[i] -= 0.01 * 0.1 * expected[i] + 0.01 * m_hat / (std::sqrt(v_hat) + 1e-8);
      EXPECT_NEAR(weight[i], expected[i], 1e-6) << "step " << number << ", element " << i;
    }
  }
}

TEST(Optimizer, SgdSubtractsTheDecayedGradient) {
  Optimizer optimizer({.kind = OptimizerKind::kSgd, .weight_decay = 0.5});
  optimizer.add("w", 1, true);
  Floats weight = {2.0F};
  step(optimizer, 1, 0.25, weight, {8.0F});
  EXPECT_FLOAT_EQ(weight[0], 2.0F - 0.01F * (0.25F * 8.0F + 0.5F * 2.0F));
  EXPECT_THAT(optimizer.state(), testing::IsEmpty());
}

TEST(Optimizer, LeavesShardsThatAreNotDecayedToTheirGradient) {
  for (const OptimizerKind kind : {OptimizerKind::kAdamW, OptimizerKind::kSgd}) {
    Optimizer optimizer({.kind = kind});
    optimizer.add("norm", 2, false);
    Floats weight = {1.0F, 3.0F};
    step(optimizer, 1, 1.0, weight, {0.0F, 0.0F});
    EXPECT_EQ(weight, (Floats{1.0F, 3.0F}));
  }
}

TEST(Optimizer, AnyShardingGivesTheSameBits) {
  constexpr int64_t kSize = 61;
  Optimizer whole({});
  whole.add("w", kSize, true);
  Floats weight = ramp(kSize, 0.3F);
  Floats parts = weight;
  for (int64_t number = 1; number <= 3; ++number) {
    step(whole, number, 0.9, weight, ramp(kSize, 0.01F * static_cast<float>(number)));
  }
  Optimizer sharded({});
  sharded.add("a", 0, true);
  sharded.add("b", 13, true);
  sharded.add("c", 48, true);
  for (int64_t number = 1; number <= 3; ++number) {
    const Floats gradient = ramp(kSize, 0.01F * static_cast<float>(number));
    const std::span<float> w(parts);
    const std::span<const float> g(gradient);
    const std::vector<Optimizer::Target> targets = {
        {w.first(0), g.first(0)}, {w.first(13), g.first(13)}, {w.subspan(13), g.subspan(13)}};
    sharded.apply(number, 0.01, 0.9, targets);
  }
  EXPECT_EQ(parts, weight);
}

TEST(Optimizer, NamesItsMomentsForCheckpoints) {
  Optimizer optimizer({});
  optimizer.add("wq", 2, true);
  optimizer.add("norm", 1, false);
  std::vector<std::string> names;
  for (const Optimizer::State& state : optimizer.state()) {
    names.push_back(std::string(state.parameter) + "/" + std::string(state.name));
    EXPECT_THAT(state.values, testing::Each(0.0F));
  }
  EXPECT_THAT(
      names,
      testing::ElementsAre("wq/exp_avg", "wq/exp_avg_sq", "norm/exp_avg", "norm/exp_avg_sq"));
}

TEST(Optimizer, GoesOnFromLoadedMoments) {
  Floats weight = {1.0F, -1.0F};
  Optimizer first({});
  first.add("w", 2, true);
  step(first, 1, 1.0, weight, {0.5F, 0.25F});
  Floats resumed = weight;
  Optimizer second({});
  second.add("w", 2, true);
  for (size_t i = 0; i < 2; ++i) {
    std::copy(first.state()[i].values.begin(),
              first.state()[i].values.end(),
              second.state()[i].values.begin());
  }
  step(first, 2, 1.0, weight, {0.1F, 0.2F});
  step(second, 2, 1.0, resumed, {0.1F, 0.2F});
  EXPECT_EQ(resumed, weight);
}

TEST(Optimizer, RefusesTargetsThatDoNotFitItsShards) {
  Optimizer optimizer({});
  optimizer.add("w", 2, true);
  Floats weight(3);
  EXPECT_THROW(step(optimizer, 1, 1.0, weight, Floats(3)), CheckFailure);
  weight.resize(2);
  EXPECT_THROW(step(optimizer, 1, 1.0, weight, Floats(3)), CheckFailure);
  EXPECT_THROW(optimizer.apply(1, 0.1, 1.0, {}), CheckFailure);
  EXPECT_THROW(optimizer.add("w", 2, true), CheckFailure);
}

TEST(Optimizer, KindIsReadFromItsName) {
  EXPECT_EQ(parse_optimizer_kind("AdamW"), OptimizerKind::kAdamW);
  EXPECT_EQ(parse_optimizer_kind("SGD"), OptimizerKind::kSgd);
  EXPECT_EQ(parse_optimizer_kind("Adam").error().text,
            "optimizer.name: expected AdamW or SGD; found \"Adam\"");
}

}  // namespace
}  // namespace brigade::optim
