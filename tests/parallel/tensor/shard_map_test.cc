// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/shard_map.h"

#include <functional>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "parallel/tensor/jit.h"
#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;
using ::testing::HasSubstr;

const PartitionSpec kWhole;
const PartitionSpec kRows({{"x"}});

void expect_refusal(const std::function<void()>& call, const std::string& text) {
  try {
    call();
    FAIL() << "no error; expected: " << text;
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().code, ErrorCode::kType);
    EXPECT_THAT(exception.error().text, HasSubstr(text));
    EXPECT_FALSE(exception.error().rule.empty()) << text;
  }
}

at::Tensor same(const Manual&, const at::Tensor& x) {
  return x;
}

TEST(ShardMap, GivesTheBodyLocalPiecesAndTheResultItsType) {
  on_mesh({{"x", 2}, {"y", 2}}, [](Program& program) {
    const at::Tensor whole = numbers({6, 4}, 0.2);
    const auto f = shard_map(program,
                             [](const Manual& ranks, const at::Tensor& a, const at::Tensor& b) {
                               EXPECT_EQ(a.sizes(), at::IntArrayRef({3, 2}));
                               EXPECT_EQ(b.sizes(), at::IntArrayRef({6, 4}));
                               return a + ranks.axis_index({"x", "y"});
                             },
                             {PartitionSpec({{"x"}, {"y"}}), kWhole},
                             {PartitionSpec({{"x"}, {"y"}})});
    const ShardedTensor y = f(whole, whole);
    EXPECT_EQ(y.type().to_string(), "f32[6@x,4@y]");
    EXPECT_TRUE(at::equal(
        y.local(),
        whole.narrow(0, 3 * (program.rank() / 2), 3).narrow(1, 2 * (program.rank() % 2), 2) +
            program.rank()));
  });
}

TEST(ShardMap, J1_PsumOfRowsIsReplicated) {
  on_mesh({{"x", 4}}, [](Program& program) {
    const at::Tensor v = at::tensor({3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 1, 2}, at::kFloat);
    const auto f =
        shard_map(program,
                  [](const Manual& ranks, const at::Tensor& x) { return ranks.psum(x, {"x"}); },
                  {kRows},
                  {kWhole});
    const ShardedTensor sum = f(v);
    EXPECT_EQ(sum.type().to_string(), "f32[4]");
    EXPECT_TRUE(at::equal(sum.local(), at::tensor({22, 20, 12, 17}, at::kFloat)));
  });
}

TEST(ShardMap, J7_RefusesAVaryingValueThatClaimsToBeEqual) {
  on_mesh({{"x", 4}}, [](Program& program) {
    const at::Tensor v = at::tensor({1, 1, 2, 1}, at::kFloat);
    const auto f = shard_map(program, same, {kRows}, {kWhole});
    expect_refusal([&] { (void)f(v); },
                   "shard_map: output 0 claims with () to be equal over \"x\", but rank 2 holds "
                   "other bits than the first rank along \"x\"; psum or all_gather it");
    const auto unchecked = shard_map(program, same, {kRows}, {kWhole}, {.check = false});
    EXPECT_EQ(unchecked(v).type().to_string(), "f32[1]");
  });
}

TEST(ShardMap, NamesTheAxisAlongWhichCopiesDiffer) {
  on_mesh({{"x", 2}, {"y", 2}}, [](Program& program) {
    const auto f = shard_map(program,
                             [](const Manual& ranks, const at::Tensor& x) {
                               return std::make_tuple(x, x + ranks.axis_index({"y"}));
                             },
                             {kWhole},
                             {kWhole, kWhole});
    expect_refusal(
        [&] { (void)f(numbers({3}, 0)); },
        "output 1 claims with () to be equal over \"y\", but ranks 1, 3 hold other bits");
  });
}

TEST(ShardMap, FindsTheGlobalShapeOfUnevenPieces) {
  on_mesh({{"x", 3}}, [](Program& program) {
    const at::Tensor whole = numbers({64, 2}, 0.1);
    const auto f = shard_map(program, same, {kRows}, {kRows});
    const ShardedTensor y = f(whole);
    EXPECT_EQ(y.type().to_string(), "f32[64@x,2]");
    EXPECT_EQ(y.local().size(0), program.rank() == 2 ? 22 : 21);
    EXPECT_TRUE(at::equal(collect(y), whole));
  });
}

TEST(ShardMap, RefusesShapesThatAreNoPiecesOfOneTensor) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const auto f = shard_map(program,
                             [](const Manual& ranks, const at::Tensor&) {
                               return at::zeros({ranks.axis_index({"x"}) == 0 ? 5 : 2});
                             },
                             {kWhole},
                             {kRows});
    expect_refusal([&] { (void)f(numbers({3}, 0)); },
                   "output 0 with spec (\"x\"): rank 0 returned f32[5], expected f32[3], its piece "
                   "of f32[7@x] (rank 0 returned f32[5])");
    const auto deep = shard_map(program, same, {kWhole}, {PartitionSpec({{}, {"x"}})});
    expect_refusal([&] { (void)deep(numbers({3}, 0)); }, "shard_map: output 0: ");
  });
}

TEST(ShardMap, MovesArgumentsAndWritesThatToTheLedger) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const ShardedTensor rows = distribute(program, numbers({4, 4}, 0), kRows);
    program.ledger().clear();
    const auto f =
        shard_map(program, same, {PartitionSpec({{}, {"x"}})}, {PartitionSpec({{}, {"x"}})});
    EXPECT_TRUE(at::equal(collect(f(rows)), numbers({4, 4}, 0)));
    ASSERT_FALSE(program.ledger().entries().empty());
    EXPECT_EQ(program.ledger().entries()[0].cast, sharding::CastKind::kAllToAll);
    EXPECT_EQ(program.ledger().entries()[0].reason, "shard_map: argument 0");
  });
}

TEST(ShardMap, RefusesSpecsThatAreMissing) {
  on_mesh({{"x", 2}}, [](Program& program) {
    expect_refusal([&] { (void)shard_map(program, same, {kRows}, {std::nullopt}); },
                   "shard_map: out_specs[0] must be given");
    const auto f = shard_map(program, same, {kRows, kRows}, {kRows});
    expect_refusal([&] { (void)f(numbers({4}, 0)); }, "shard_map: 1 arguments, but 2 specs");
    const auto g = shard_map(program, same, {kRows}, {});
    expect_refusal([&] { (void)g(numbers({4}, 0)); }, "shard_map: 1 outputs, but 0 specs");
    expect_refusal([&] { (void)shard_map(program, same, {PartitionSpec({{"z"}})}, {kRows}); },
                   "shard_map: in_specs[0]: ");
  });
}

/// Whole gradients of the arguments when `seed`, whole, comes back into the result.
std::vector<at::Tensor> gradients_of(
    Program& program,
    const std::function<ShardedTensor(const at::Tensor&, const at::Tensor&)>& f,
    const at::Tensor& seed) {
  const at::Tensor x = numbers({8, 3}, 0.1).set_requires_grad(true);
  const at::Tensor w = numbers({3}, 0.7).set_requires_grad(true);
  const ShardedTensor y = f(x, w);
  const ShardedTensor cotangent = place(program, seed, dual(y.type()).spec);
  torch::autograd::backward({y.local()}, {cotangent.local()});
  return {x.grad(), w.grad()};
}

struct Shape2 {
  const char* name;
  PartitionSpec x;
  PartitionSpec out;
  std::function<at::Tensor(const Manual&, const at::Tensor&)> finish;
};

TEST(ShardMap, GradientsEqualThoseOfOneRankForEveryWayOut) {
  // y = sum over rows of tanh(x w) x: replicated input w, one output in four states.
  const at::Tensor seed = numbers({3}, 0.9);
  const auto local = [](const at::Tensor& x, const at::Tensor& w) {
    return (x * at::tanh(x.mv(w)).unsqueeze(1)).sum(0);
  };
  std::vector<at::Tensor> wanted;
  {
    const at::Tensor x = numbers({8, 3}, 0.1).set_requires_grad(true);
    const at::Tensor w = numbers({3}, 0.7).set_requires_grad(true);
    torch::autograd::backward({local(x, w)}, {seed});
    wanted = {x.grad(), w.grad()};
  }
  const PartitionSpec rows({{"x", "y"}, {}});
  const std::vector<Shape2> ways = {
      {"psum to replicated",
       rows,
       kWhole,
       [](const Manual& m, const at::Tensor& y) {
         return m.psum(y, {"x", "y"});
       }},
      {"terms of a sum",
       rows,
       kWhole.with_unreduced({"x", "y"}),
       [](const Manual&, const at::Tensor& y) { return y; }},
      {"psum to reduced",
       rows,
       kWhole.with_reduced({"x", "y"}),
       [](const Manual& m, const at::Tensor& y) {
         return m.psum(y, {"x", "y"});
       }},
      {"scattered",
       rows,
       PartitionSpec({{"y"}}),
       [](const Manual& m, const at::Tensor& y) {
         return m.psum_scatter(m.psum(y, {"x"}), {"y"});
       }},
      {"split over x alone", kRows, kWhole, [](const Manual& m, const at::Tensor& y) {
         return m.psum(y, {"x"});
       }}};
  on_mesh({{"x", 2}, {"y", 2}}, [&](Program& program) {
    for (const Shape2& way : ways) {
      const auto f = shard_map(program,
                               [&](const Manual& m, const at::Tensor& x, const at::Tensor& w) {
                                 return way.finish(m, local(x, w));
                               },
                               {way.x, kWhole},
                               {way.out});
      const std::vector<at::Tensor> found = gradients_of(program, f, seed);
      for (size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_TRUE(at::allclose(found[i], wanted[i], 1e-5, 1e-5))
            << way.name << ", argument " << i << "\n"
            << found[i] << "\nexpected\n"
            << wanted[i];
      }
    }
  });
}

TEST(ShardMap, KeepsReducedAndUnreducedArgumentsAsTheyAre) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const ShardedTensor terms = place(program, numbers({3}, 0), kWhole.with_unreduced({"x"}));
    const ShardedTensor leaf(
        program, terms.type(), terms.local().detach().clone().set_requires_grad(true));
    const auto sum =
        shard_map(program,
                  [](const Manual& m, const at::Tensor& t) { return m.psum(t, {"x"}); },
                  {std::nullopt},
                  {kWhole});
    const ShardedTensor y = sum(leaf);
    EXPECT_TRUE(at::equal(y.local(), numbers({3}, 0)));
    torch::autograd::backward({y.local()}, {numbers({3}, 5)});
    EXPECT_TRUE(at::equal(leaf.local().grad(), numbers({3}, 5)));

    const auto odd = shard_map(program,
                               [](const Manual& m, const at::Tensor& t) {
                                 return m.psum(t * (1 + m.axis_index({"x"})), {"x"});
                               },
                               {std::nullopt},
                               {kWhole});
    const ShardedTensor z = odd(leaf);
    expect_refusal(
        [&] { torch::autograd::backward({z.local()}, {numbers({3}, 5)}); },
        "argument 0: the gradient of its terms must be equal over \"x\", but rank 1 holds");
  });
}

TEST(ShardMap, WorksInsideJit) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const auto total =
        shard_map(program,
                  [](const Manual& m, const at::Tensor& t) { return m.psum(t.sum(), {"x"}); },
                  {kRows},
                  {kWhole});
    const auto f =
        jit(program, [&](const ShardedTensor& x) { return total(x); }, {kRows}, {kWhole});
    const at::Tensor x = numbers({5, 2}, 0.4);
    EXPECT_NEAR(f(x).local().item<float>(), x.sum().item<float>(), 1e-5);
  });
}

TEST(Pmap, SplitsDim0OfAllOverOneAxis) {
  on_mesh({{"x", 3}, {"y", 2}}, [](Program& program) {
    const auto f = pmap(
        program,
        [](const Manual& ranks, const at::Tensor& a, const at::Tensor& b) {
          const at::Tensor total = ranks.psum(a.sum(), {"x"});
          return std::make_tuple(a * b, (a / total));
        },
        "x");
    const at::Tensor a = numbers({7, 2}, 0.3);
    const at::Tensor b = numbers({7, 2}, 0.6);
    const auto [product, share] = f(a, b);
    EXPECT_EQ(product.type().to_string(), "f32[7@x,2]");
    EXPECT_TRUE(at::equal(collect(product), a * b));
    EXPECT_TRUE(at::allclose(collect(share), a / a.sum(), 1e-5, 1e-5));
  });
}

TEST(Pmap, NamesAnAxisThatIsNotThere) {
  on_mesh({{"x", 2}}, [](Program& program) {
    expect_refusal([&] { (void)pmap(program, same, "z"); }, "pmap: axis[0]: ");
    const auto f = pmap(program, same, "x");
    expect_refusal([&] { (void)f(at::zeros({})); }, "dims");
  });
}

}  // namespace
}  // namespace brigade::tensor
