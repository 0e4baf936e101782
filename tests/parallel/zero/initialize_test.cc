// SPDX-License-Identifier: Apache-2.0
#include "parallel/zero/initialize.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/base/philox.h"

namespace brigade::zero {
namespace {

using sharding::Box;
using sharding::Initializer;
using sharding::ParameterFacts;

ParameterFacts normal_facts(sharding::Shape shape) {
  ParameterFacts facts;
  facts.name = "layer.weight";
  facts.shape = std::move(shape);
  facts.initializer = {Initializer::Kind::kNormal, 0.02};
  return facts;
}

at::Tensor filled(const ParameterFacts& facts,
                  const Box& box,
                  uint64_t seed = 7,
                  at::ScalarType dtype = at::kFloat) {
  at::Tensor out = at::full(box.shape(), 99.0F).to(dtype);
  initialize(facts, box, seed, out);
  return out;
}

TEST(Initialize, MakesEachValueOfItsGlobalIndexAndName) {
  const ParameterFacts facts = normal_facts({3, 5});
  const at::Tensor values = filled(facts, sharding::whole_box(facts.shape)).flatten();
  const uint64_t stream = random_stream("init", "layer.weight");
  for (int64_t i = 0; i < 15; ++i) {
    const double standard = normal(7, static_cast<uint64_t>(i), 0, stream);
    EXPECT_EQ(values[i].item<float>(), static_cast<float>(standard * 0.02));
  }
}

TEST(Initialize, FillsEveryBoxAsTheWholeTensorHasIt) {
  const ParameterFacts facts = normal_facts({4, 3, 5});
  const at::Tensor whole = filled(facts, sharding::whole_box(facts.shape));
  for (int64_t first = 0; first <= 4; ++first) {
    for (int64_t left = 0; left < 5; ++left) {
      const Box box{{{first, 4}, {1, 3}, {left, 5}}};
      EXPECT_TRUE(
          at::equal(filled(facts, box),
                    whole.narrow(0, first, 4 - first).narrow(1, 1, 2).narrow(2, left, 5 - left)));
    }
  }
}

TEST(Initialize, FillsVectorsAndScalars) {
  const ParameterFacts vector = normal_facts({6});
  const at::Tensor whole = filled(vector, sharding::whole_box({6}));
  EXPECT_TRUE(at::equal(filled(vector, Box{{{2, 5}}}), whole.narrow(0, 2, 3)));
  EXPECT_EQ(filled(normal_facts({}), Box{}).item<float>(), whole[0].item<float>());
}

TEST(Initialize, DependsOnSeedAndName) {
  ParameterFacts facts = normal_facts({4, 4});
  const Box box = sharding::whole_box(facts.shape);
  const at::Tensor values = filled(facts, box);
  EXPECT_FALSE(at::equal(filled(facts, box, 8), values));
  facts.name = "other.weight";
  EXPECT_FALSE(at::equal(filled(facts, box), values));
}

TEST(Initialize, StartsATiedUseAsItsOwner) {
  const ParameterFacts owner = normal_facts({4, 4});
  ParameterFacts use = owner;
  use.name = "head.weight";
  use.tied_to = owner.name;
  const Box box = sharding::whole_box(owner.shape);
  EXPECT_TRUE(at::equal(filled(use, box), filled(owner, box)));
}

TEST(Initialize, HasTheAskedDeviation) {
  const ParameterFacts facts = normal_facts({200, 200});
  const at::Tensor values = filled(facts, sharding::whole_box(facts.shape)).to(at::kDouble);
  EXPECT_NEAR(values.mean().item<double>(), 0.0, 5e-4);
  EXPECT_NEAR(values.std().item<double>(), 0.02, 5e-4);
}

TEST(Initialize, FillsConstants) {
  ParameterFacts facts = normal_facts({2, 3});
  facts.initializer.kind = Initializer::Kind::kZeros;
  EXPECT_TRUE(at::equal(filled(facts, sharding::whole_box({2, 3})), at::zeros({2, 3})));
  facts.initializer.kind = Initializer::Kind::kOnes;
  EXPECT_TRUE(at::equal(filled(facts, sharding::whole_box({2, 3})), at::ones({2, 3})));
}

TEST(Initialize, RoundsOnceToTheWeightsType) {
  const ParameterFacts facts = normal_facts({5, 5});
  const Box box = sharding::whole_box(facts.shape);
  EXPECT_TRUE(
      at::equal(filled(facts, box, 7, at::kBFloat16), filled(facts, box).to(at::kBFloat16)));
}

}  // namespace
}  // namespace brigade::zero
