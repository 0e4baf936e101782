// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/kept_products.h"

#include <functional>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "parallel/base/check.h"
#include "parallel/tensor/ops/einsum.h"
#include "parallel/tensor/ops/unary.h"
#include "parallel/tensor/program.h"
#include "tests/support/rank_threads.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;

at::Tensor values(at::IntArrayRef sizes, double start) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    count *= size;
  }
  return at::sin(at::arange(count, at::kFloat) * 0.7 + start).view(sizes);
}

/// Column-parallel, gelu, row-parallel with an all-reduce: a block in small.
struct Block {
  ShardedTensor x;
  ShardedTensor up;
  ShardedTensor down;

  explicit Block(Program& program)
      : x(leaf(program, values({4, 6}, 0.1), PartitionSpec().with_reduced({"t"}))),
        up(leaf(program, values({8, 6}, 0.2), PartitionSpec({{"t"}, {}}))),
        down(leaf(program, values({6, 8}, 0.3), PartitionSpec({{}, {"t"}}))) {}

  static ShardedTensor leaf(Program& program, const at::Tensor& whole, const PartitionSpec& spec) {
    const ShardedTensor piece = distribute(program, whole, spec);
    return ShardedTensor(program, &piece.record(), piece.local().clone().requires_grad_(true));
  }

  ShardedTensor operator()() const {
    const ShardedTensor wide = gelu(einsum("bd,hd->bh", x, up), GeluForm::kTanh);
    return einsum("bh,dh->bd", wide, down, PartitionSpec());
  }

  std::vector<at::Tensor> gradients() const {
    return {x.local().grad(), up.local().grad(), down.local().grad()};
  }
};

void on_two_ranks(const std::function<void(Program&)>& body) {
  testing::run_ranks(2, [&](collective::World& world) {
    Program program(value_or_throw(mesh::Mesh::create({{"t", 2}})),
                    world.rank(),
                    [&](const std::vector<int64_t>& members, const std::string& name) {
                      return world.group(members, name);
                    });
    body(program);
  });
}

TEST(KeptProducts, GiveTheSameBitsWithoutASecondReduction) {
  on_two_ranks([](Program& program) {
    const Block plain(program);
    const ShardedTensor wanted = plain();
    torch::autograd::backward({wanted.local()}, {at::ones_like(wanted.local())});

    const Block block(program);
    KeptProducts products;
    {
      const c10::NoGradGuard no_history;
      const ProductScope scope(program, products, ProductScope::Mode::kKeep);
      EXPECT_TRUE(at::equal(block().local(), wanted.local()));
    }
    program.ledger().clear();
    ShardedTensor again;
    {
      const ProductScope scope(program, products, ProductScope::Mode::kReuse);
      again = block();
    }
    EXPECT_TRUE(program.ledger().entries().empty());  // the all-reduce is not repeated
    EXPECT_TRUE(at::equal(again.local(), wanted.local()));
    torch::autograd::backward({again.local()}, {at::ones_like(again.local())});
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(at::equal(block.gradients()[i], plain.gradients()[i])) << i;
    }
  });
}

TEST(KeptProducts, AreTakenOnceInTheirOrder) {
  KeptProducts products;
  products.keep(at::full({1}, 1.0));
  products.keep(at::full({1}, 2.0));
  EXPECT_EQ(products.take().item<float>(), 1.0F);
  EXPECT_EQ(products.take().item<float>(), 2.0F);
  EXPECT_THROW(products.take(), CheckFailure);
}

TEST(KeptProducts, DoNotNest) {
  on_two_ranks([](Program& program) {
    KeptProducts products;
    const ProductScope outer(program, products, ProductScope::Mode::kKeep);
    EXPECT_THROW(ProductScope(program, products, ProductScope::Mode::kKeep), CheckFailure);
  });
}

}  // namespace
}  // namespace brigade::tensor
