// SPDX-License-Identifier: Apache-2.0
// Random reshards of real tensors, forward and backward: a reshard is the identity of the global
// tensor, and so is its gradient.
#include <random>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "parallel/base/text.h"
#include "parallel/tensor/casts.h"
#include "tests/parallel/sharding/random_specs.h"
#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;
using sharding::Shape;

struct Case {
  Shape shape;
  PartitionSpec from;
  PartitionSpec to;
};

Case random_case(std::mt19937& random, const mesh::Mesh& mesh) {
  const std::vector<int64_t> sizes = {0, 1, 3, 5, 8, 8, 12, 12};
  Case drawn;
  for (size_t rank = 1 + random() % 3; rank > 0; --rank) {
    drawn.shape.push_back(sizes[random() % sizes.size()]);
  }
  do {
    drawn.from = sharding::random_legal_spec(random, mesh, drawn.shape.size());
    drawn.to = sharding::random_legal_spec(random, mesh, drawn.shape.size());
  } while (!sharding::has_way(mesh, drawn.from, drawn.to));
  return drawn;
}

void expect_identity(Program& program, const Case& drawn) {
  const at::Tensor whole = numbers(drawn.shape, 0.2);
  const at::Tensor cotangent = numbers(drawn.shape, 0.7);
  const ShardedTensor piece = place(program, whole, drawn.from);
  const ShardedTensor leaf(
      program, piece.type(), piece.local().detach().clone().set_requires_grad(true));
  const ShardedTensor moved = reshard(leaf, drawn.to, "test");
  EXPECT_EQ(moved.type().spec, drawn.to);
  // Terms of a sum round; all else is moved as it is.
  EXPECT_TRUE(at::allclose(collect(moved), whole, 1e-5, 1e-5)) << "value";
  const ShardedTensor seed = place(program, cotangent, dual(moved.type()).spec);
  torch::autograd::backward({moved.local()}, {seed.local()});
  EXPECT_TRUE(at::allclose(collect(leaf.gradient()), cotangent, 1e-5, 1e-5)) << "gradient";
}

TEST(Reshard, IsTheIdentityForwardAndBackwardBetweenRandomSpecs) {
  constexpr unsigned kCasesPerMesh = 40;
  const std::vector<std::vector<mesh::Axis>> meshes = {{{"x", 2}, {"y", 2}},
                                                       {{"x", 2}, {"y", 4}},
                                                       {{"x", 3}, {"y", 2}},
                                                       {{"x", 2}, {"y", 2}, {"z", 2}}};
  for (size_t index = 0; index < meshes.size(); ++index) {
    on_mesh(meshes[index], [&](Program& program) {
      for (unsigned number = 0; number < kCasesPerMesh; ++number) {
        const auto seed = static_cast<unsigned>(index * kCasesPerMesh + number);
        std::mt19937 random(seed);
        const Case drawn = random_case(random, program.mesh());
        SCOPED_TRACE(concat("seed ",
                            seed,
                            " on ",
                            program.mesh().to_string(),
                            ": (",
                            join(drawn.shape),
                            ") ",
                            drawn.from.to_string(),
                            " to ",
                            drawn.to.to_string()));
        expect_identity(program, drawn);
        ASSERT_FALSE(::testing::Test::HasFailure());
      }
    });
  }
}

TEST(Reshard, HasNoGradientOfTermsOfAMaximum) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const sharding::TensorType terms{
        DType::kFloat32, {2}, PartitionSpec().with_unreduced({"x"}, sharding::Reduction::kMax)};
    try {
      (void)dual(terms);
      ADD_FAILURE() << "a gradient of a maximum";
    } catch (const Exception& refused) {
      EXPECT_EQ(refused.error().code, ErrorCode::kType);
      EXPECT_EQ(
          refused.error().text,
          "no gradient passes through f32[2]{Umax:x}: its terms are joined by a max, not by a "
          "sum; detach the operand first");
    }
    const ShardedTensor held(program, terms, at::ones({2}));
    EXPECT_TRUE(at::equal(reshard(held, PartitionSpec(), "test").local(), at::ones({2})));
    const ShardedTensor leaf(program, terms, at::ones({2}).set_requires_grad(true));
    EXPECT_THROW(reshard(leaf, PartitionSpec(), "test"), Exception);
  });
}

}  // namespace
}  // namespace brigade::tensor
