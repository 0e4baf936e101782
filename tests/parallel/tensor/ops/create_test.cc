// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/create.h"

#include <cmath>
#include <functional>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/sharding/named_sharding.h"
#include "tests/parallel/sharding/spelled.h"
#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::TensorType;
using ::testing::HasSubstr;
using Make = std::function<ShardedTensor(Program&, const TensorType&)>;

/// Every rank's piece, in any type on any mesh, is that part of the tensor made on one rank.
void expect_same_on_every_mesh(const Make& make) {
  at::Tensor whole;
  on_mesh("x1", [&](Program& program) { whole = make(program, sharding::type("5,3,4")).local(); });
  for (const Placed& placed : std::vector<Placed>{{"x2", {"5@x,3,4"}},
                                                  {"x2", {"5,3,4@x"}},
                                                  {"x2", {"5,3,4{R:x}"}},
                                                  {"x8", {"5@x,3,4"}},
                                                  {"x2,y4", {"5@x,3@y,4"}},
                                                  {"x2,y4", {"5,3@y,4@x"}},
                                                  {"x3,y2", {"5@(x,y),3,4"}}}) {
    on_mesh(placed.mesh, [&](Program& program) {
      const TensorType type = sharding::type(placed.types[0]);
      const ShardedTensor made = make(program, type);
      EXPECT_EQ(made.type(), type);
      const ShardedTensor wanted = place(program, whole, type.spec);
      EXPECT_TRUE(at::equal(made.local(), wanted.local())) << placed.types[0];
    });
  }
}

const RandomSource kSource{.seed = 7, .name = "here", .step = 3};

TEST(Create, MakesTheSameValuesOnEveryMesh) {
  expect_same_on_every_mesh([](Program& p, const TensorType& type) { return full(p, type, 2.5); });
  for (const int64_t dim : {0, 1, -1}) {
    expect_same_on_every_mesh(
        [&](Program& p, const TensorType& type) { return iota(p, type, dim); });
  }
  expect_same_on_every_mesh(
      [](Program& p, const TensorType& type) { return random_uniform(p, type, kSource); });
  expect_same_on_every_mesh(
      [](Program& p, const TensorType& type) { return random_normal(p, type, kSource); });
}

TEST(Create, FillsAndCounts) {
  on_mesh("x1", [](Program& program) {
    const TensorType type{DType::kInt64, {2, 3}, {}};
    EXPECT_TRUE(at::equal(full(program, type, 4).local(), at::full({2, 3}, 4, at::kLong)));
    EXPECT_TRUE(at::equal(zeros(program, type).local(), at::zeros({2, 3}, at::kLong)));
    EXPECT_TRUE(at::equal(ones(program, sharding::type("2")).local(), at::ones({2})));
    EXPECT_TRUE(at::equal(iota(program, type, 1).local(), at::arange(3, at::kLong).expand({2, 3})));
    EXPECT_EQ(full(program, sharding::type(""), 1.5).local().item<float>(), 1.5F);
  });
}

TEST(Create, DrawsFromDistributionsBySeedNameAndStep) {
  on_mesh("x1", [](Program& program) {
    const TensorType type = sharding::type("100,100");
    const at::Tensor uniform = random_uniform(program, type, kSource).local();
    EXPECT_GE(uniform.min().item<float>(), 0);
    EXPECT_LT(uniform.max().item<float>(), 1);
    EXPECT_NEAR(uniform.mean().item<float>(), 0.5, 0.02);
    EXPECT_NEAR(uniform.std().item<float>(), std::sqrt(1.0 / 12), 0.02);
    const at::Tensor normal = random_normal(program, type, kSource).local();
    EXPECT_NEAR(normal.mean().item<float>(), 0, 0.04);
    EXPECT_NEAR(normal.std().item<float>(), 1, 0.04);
    for (const RandomSource& other :
         {RandomSource{8, "here", 3}, RandomSource{7, "there", 3}, RandomSource{7, "here", 4}}) {
      EXPECT_FALSE(at::equal(random_uniform(program, type, other).local(), uniform));
      EXPECT_FALSE(at::equal(random_normal(program, type, other).local(), normal));
    }
    EXPECT_TRUE(at::equal(random_uniform(program, type, kSource).local(), uniform));
  });
}

TEST(Create, RoundsToTheElementsOfTheType) {
  on_mesh("x1", [](Program& program) {
    const TensorType type{DType::kBFloat16, {4}, {}};
    EXPECT_TRUE(
        at::equal(random_normal(program, type, kSource).local(),
                  random_normal(program, sharding::type("4"), kSource).local().to(at::kBFloat16)));
  });
}

std::string refusal(const Make& make, const TensorType& type) {
  std::string text;
  on_mesh("x1", [&](Program& program) {
    try {
      (void)make(program, type);
    } catch (const Exception& refused) {
      text = refused.what();
    }
  });
  return text;
}

TEST(Create, RefusesTypesThatCannotBeMade) {
  const Make fill = [](Program& p, const TensorType& type) { return full(p, type, 0.5); };
  const Make count = [](Program& p, const TensorType& type) { return iota(p, type, 1); };
  const Make draw = [](Program& p, const TensorType& type) {
    return random_normal(p, type, kSource);
  };
  EXPECT_EQ(
      refusal(fill, sharding::type("4{U:x}")),
      "full: f32[4]{U:x} is unreduced, so that no rank's term is known; make it replicated or "
      "sharded, then reshard it");
  EXPECT_THAT(refusal(fill, sharding::type("4@z")), HasSubstr("full: "));
  EXPECT_EQ(refusal(fill, {DType::kInt64, {4}, {}}), "full: i64[4] cannot hold 0.5");
  EXPECT_EQ(refusal(count, sharding::type("4")), "iota: f32[4] has no dim 1");
  EXPECT_EQ(refusal(draw, {DType::kInt64, {4}, {}}),
            "random_normal: expected floats, found i64[4]; cast it with to()");
}

}  // namespace
}  // namespace brigade::tensor
