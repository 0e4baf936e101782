// SPDX-License-Identifier: Apache-2.0
// The code of docs/SHARDING.md, compiled and run; and what the page says that it prints.
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "parallel/sharding/interval.h"
#include "parallel/sharding/named_sharding.h"
#include "parallel/tensor/casts.h"
#include "parallel/tensor/from_callback.h"
#include "parallel/tensor/jit.h"
#include "parallel/tensor/ledger_report.h"
#include "parallel/tensor/ops/einsum.h"
#include "parallel/tensor/ops/elementwise.h"
#include "parallel/tensor/ops/reduce.h"
#include "parallel/tensor/ops/unary.h"
#include "parallel/tensor/shard_map.h"
#include "tests/docs/doc_text.h"
#include "tests/support/rank_threads.h"

namespace brigade::tensor {
namespace {

using mesh::Mesh;
using sharding::NamedSharding;
using sharding::PartitionSpec;
using sharding::TensorType;

const std::string kPage = BRIGADE_SOURCE "/docs/SHARDING.md";

/// The page has `text` as the printed block `name`.
void expect_printed(const std::string& name, const std::string& text) {
  const testing::Blocks blocks = testing::blocks_of_page(kPage, "printed");
  const auto block = blocks.find(name);
  ASSERT_NE(block, blocks.end()) << "the page has no block " << name << " for:\n" << text;
  EXPECT_EQ(block->second, text) << name;
}

void on_ranks(int64_t ranks, const std::function<void(collective::World&)>& body) {
  testing::run_ranks(ranks, body);
}

// snippet: with_program
/// Runs `body` with this rank's Program on a mesh over all ranks of the world.
void with_program(collective::World& world,
                  const Mesh& mesh,
                  const std::function<void(Program&)>& body) {
  Program program(mesh, world.rank(), [&](const auto& members, const std::string& name) {
    return world.group(members, name);
  });
  body(program);
}
// end

// snippet: mlp
ShardedTensor mlp(const ShardedTensor& x,
                  const ShardedTensor& w1,
                  const ShardedTensor& b1,
                  const ShardedTensor& w2,
                  const ShardedTensor& b2) {
  const PartitionSpec out({{"data"}, {}});
  const ShardedTensor hidden = tanh(einsum("bi,ih->bh", x, w1) + b1);
  return einsum("bh,ho->bo", hidden, w2, out) + b2;
}
// end

at::Tensor numbers(at::IntArrayRef sizes) {
  return at::sin(at::arange(c10::multiply_integers(sizes), at::kFloat)).view(sizes);
}

Mesh plane() {
  return value_or_throw(Mesh::create({{"data", 2}, {"model", 2}}));
}

void on_plane(const std::function<void(Program&)>& body) {
  on_ranks(4, [&](collective::World& world) { with_program(world, plane(), body); });
}

TEST(ShardingPage, HasTheCodeOfThisFileAndNoOther) {
  const testing::Blocks shown = testing::blocks_of_page(kPage, "snippet");
  const testing::Blocks run =
      testing::pieces_of_source(BRIGADE_SOURCE "/tests/docs/sharding_snippets_test.cc");
  EXPECT_EQ(shown, run);
  EXPECT_EQ(testing::unnamed_blocks(kPage, "cpp"), std::vector<std::string>());
}

TEST(ShardingPage, MeshAndSpec) {
  // snippet: mesh
  const Mesh mesh = value_or_throw(Mesh::create({{"data", 2}, {"model", 2}}));
  const PartitionSpec rows({{"data"}, {}});  // dim 0 over "data", dim 1 not split
  const NamedSharding sharding = value_or_throw(NamedSharding::create(mesh, rows));
  const auto shape = sharding.local_shape({64, 128}, /*rank=*/3);  // {32, 128}
  std::cout << sharding.picture({64, 128});
  // end
  EXPECT_EQ(shape, (sharding::Shape{32, 128}));
  expect_printed("rows", sharding.picture({64, 128}));
  // snippet: parse
  const PartitionSpec same = value_or_throw(PartitionSpec::parse("(\"data\", None)"));
  const PartitionSpec both({{"data", "model"}, {}});  // one dim over both axes, "data" major
  // end
  EXPECT_EQ(same, rows);
  expect_printed("both", NamedSharding{mesh, both}.picture({8, 3}));
}

TEST(ShardingPage, Intervals) {
  const Mesh mesh = value_or_throw(Mesh::create({{"data", 3}}));
  const NamedSharding sharding{mesh, PartitionSpec({{"data"}})};
  EXPECT_EQ(sharding.local_shape({64}, 0)[0], 21);
  EXPECT_EQ(sharding.local_shape({64}, 2)[0], 22);
  expect_printed("uneven", sharding.picture({64, 16}));
}

TEST(ShardingPage, JitOfThePerceptron) {
  on_plane([](Program& program) {
    const at::Tensor x = numbers({64, 128});
    const at::Tensor w1 = numbers({128, 64});
    const at::Tensor b1 = numbers({64});
    const at::Tensor w2 = numbers({64, 16});
    const at::Tensor b2 = numbers({16});
    // snippet: jit
    const PartitionSpec rows({{"data"}, {}});
    const PartitionSpec whole;
    const auto forward = jit(program, mlp, {rows, whole, whole, whole, whole}, {rows});
    const ShardedTensor y = forward(x, w1, b1, w2, b2);  // plain tensors are distributed
    // end
    EXPECT_EQ(y.type().to_string(), "f32[64@data,16]");
    EXPECT_TRUE(program.ledger().entries().empty());
    const at::Tensor wanted = at::tanh(x.mm(w1) + b1).mm(w2) + b2;
    EXPECT_TRUE(at::allclose(collect(y), wanted, 1e-4, 1e-4));
    program.ledger().clear();
    // snippet: tensor_parallel
    const PartitionSpec columns({{}, {"model"}});
    const PartitionSpec inner({{"model"}, {}});
    const auto parallel = jit(program, mlp, {rows, columns, whole, inner, whole}, {rows});
    const ShardedTensor z = parallel(x, w1, b1, w2, b2);
    std::cout << to_table(program.ledger(), program.mesh());
    // end
    EXPECT_TRUE(at::allclose(collect(z), wanted, 1e-4, 1e-4));
  });
}

TEST(ShardingPage, LedgerOfTensorParallel) {
  on_plane([](Program& program) {
    const PartitionSpec rows({{"data"}, {}});
    const auto parallel = jit(program,
                              mlp,
                              {rows,
                               PartitionSpec({{}, {"model"}}),
                               PartitionSpec(),
                               PartitionSpec({{"model"}, {}}),
                               PartitionSpec()},
                              {rows});
    (void)parallel(
        numbers({64, 128}), numbers({128, 64}), numbers({64}), numbers({64, 16}), numbers({16}));
    if (program.rank() == 0) {
      expect_printed("tensor_parallel", to_table(program.ledger(), program.mesh()));
    }
  });
}

TEST(ShardingPage, Gradients) {
  on_plane([](Program& program) {
    const at::Tensor x = numbers({64, 128});
    const at::Tensor whole_w = numbers({128, 64});
    // snippet: gradients
    const PartitionSpec reduced = PartitionSpec().with_reduced({"data"});
    const ShardedTensor rows = distribute(program, x, PartitionSpec({{"data"}, {}}));
    const ShardedTensor w = distribute(program, whole_w, reduced);
    w.local().set_requires_grad(true);
    const ShardedTensor loss = mean(square(einsum("bi,ih->bh", rows, w)));
    torch::autograd::backward({loss.local()}, {at::ones_like(loss.local())});  // no collective
    const ShardedTensor terms = w.gradient();                       // f32[128,64]{U:data}
    const ShardedTensor sum = reshard(terms, {}, "gradient of w");  // one all-reduce
    // end
    EXPECT_EQ(terms.type().to_string(), "f32[128,64]{U:data}");
    const at::Tensor wanted = x.t().mm(x.mm(whole_w)) * (2.0 / static_cast<double>(64 * 64));
    EXPECT_TRUE(at::allclose(sum.local(), wanted, 1e-4, 1e-4));
  });
}

TEST(ShardingPage, ManualMode) {
  on_plane([](Program& program) {
    const at::Tensor x = numbers({64, 128}) + 2;
    // snippet: shard_map
    const PartitionSpec rows({{"data"}, {}});
    const auto shifted = shard_map(program,
                                   [](const Manual& ranks, const at::Tensor& piece) {
                                     const at::Tensor top =
                                         ranks.pmax(piece.detach().amax(), {"data"});
                                     return std::make_tuple(piece - top, top);
                                   },
                                   {rows},
                                   {rows, PartitionSpec()});
    const auto [y, top] = shifted(x);
    // end
    EXPECT_TRUE(at::equal(collect(y), x - x.max()));
    EXPECT_TRUE(at::equal(top.local(), x.max()));
    // snippet: pmap
    const auto shares = pmap(
        program,
        [](const Manual& ranks, const at::Tensor& piece) {
          return piece / ranks.psum(piece.sum(), {"data"});
        },
        "data");
    const ShardedTensor parts = shares(x);
    // end
    EXPECT_TRUE(at::allclose(collect(parts), x / x.sum(), 1e-3, 1e-4));
  });
}

TEST(ShardingPage, FromCallback) {
  on_plane([](Program& program) {
    const at::Tensor file = numbers({64, 16});
    // snippet: from_callback
    const TensorType type{DType::kFloat32, {64, 16}, PartitionSpec({{"data"}, {}})};
    const ShardedTensor x = from_callback(program, type, [&](const sharding::Box& box) {
      return file.narrow(0, box.dims[0].begin, box.dims[0].size());
    });
    // end
    EXPECT_TRUE(at::equal(collect(x), file));
  });
}

/// What a wrong call says, as a block of one line.
std::string complaint(const std::function<void()>& call) {
  try {
    call();
  } catch (const Exception& exception) {
    return exception.error().text + "\n";
  }
  return "no error\n";
}

TEST(ShardingPage, Errors) {
  on_plane([](Program& program) {
    const PartitionSpec rows({{"data"}, {}});
    const PartitionSpec columns({{}, {"model"}});
    const auto forward = jit(program, [](const ShardedTensor& x) { return x; }, {rows}, {rows});
    const ShardedTensor x = distribute(program, numbers({64, 128}), columns);
    const ShardedTensor w = distribute(program, numbers({128, 16}), PartitionSpec({{"model"}, {}}));
    const std::string committed = complaint([&] { (void)forward(x); });
    const std::string contraction = complaint([&] { (void)einsum("bi,io->bo", x, w); });
    if (program.rank() == 0) {
      expect_printed("error_committed", committed);
      expect_printed("error_contraction", contraction);
    }
  });
}

TEST(ShardingPage, BranchThatOneRankAloneTook) {
  std::string said;
  on_plane([&](Program& program) {
    const auto forward =
        jit(program,
            [&](const ShardedTensor& x) { return program.rank() == 3 ? tanh(x) : square(x); },
            {PartitionSpec({{"data"}, {}})},
            {std::nullopt});
    const std::string text = complaint([&] { (void)forward(numbers({64, 16})); });
    if (program.rank() == 0) {
      said = text;
    }
  });
  expect_printed("error_branch", said);
}

}  // namespace
}  // namespace brigade::tensor
