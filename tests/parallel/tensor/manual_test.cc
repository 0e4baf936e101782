// SPDX-License-Identifier: Apache-2.0
// Collectives of manual mode, by hand: the body is the rank's own code, without shard_map.
#include "parallel/tensor/manual.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using ::testing::HasSubstr;

const std::vector<mesh::Axis> kLine = {{"x", 4}};

/// Rank i's quarter of v = [3,1,4,1 | 5,9,2,6 | 5,3,5,8 | 9,7,1,2].
at::Tensor quarter(const Program& program) {
  const at::Tensor v = at::tensor({3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 1, 2}, at::kFloat);
  return v.narrow(0, 4 * program.rank(), 4).clone();
}

at::Tensor floats(std::initializer_list<float> values) {
  return at::tensor(at::ArrayRef<float>(values), at::kFloat);
}

void expect_bits(const at::Tensor& found, const at::Tensor& wanted) {
  EXPECT_TRUE(at::equal(found, wanted)) << found << "\nexpected\n" << wanted;
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().code, ErrorCode::kType);
    return exception.error().text;
  }
  return "no error";
}

TEST(Manual, J1_PsumGivesTheSumToAll) {
  on_mesh(kLine, [](Program& program) {
    expect_bits(Manual(program).psum(quarter(program), {"x"}), floats({22, 20, 12, 17}));
  });
}

TEST(Manual, J2_PsumScatterGivesEachItsPartOfTheSum) {
  on_mesh(kLine, [](Program& program) {
    const at::Tensor sum = floats({22, 20, 12, 17});
    expect_bits(Manual(program).psum_scatter(quarter(program), {"x"}),
                sum.narrow(0, program.rank(), 1));
  });
}

TEST(Manual, PmaxAndPminGiveTheExtremesToAll) {
  on_mesh(kLine, [](Program& program) {
    const Manual ranks(program);
    expect_bits(ranks.pmax(quarter(program), {"x"}), floats({9, 9, 5, 8}));
    expect_bits(ranks.pmin(quarter(program), {"x"}), floats({3, 1, 1, 1}));
  });
}

TEST(Manual, J4_PpermuteTurnsARingOfEight) {
  on_mesh({{"x", 8}}, [](Program& program) {
    Pairs ring;
    for (int64_t i = 0; i < 8; ++i) {
      ring.emplace_back(i, (i + 1) % 8);
    }
    const at::Tensor mine = at::full({1}, program.rank(), at::kFloat);
    expect_bits(Manual(program).ppermute(mine, {"x"}, ring),
                at::full({1}, (program.rank() + 7) % 8, at::kFloat));
  });
}

TEST(Manual, J4_PpermuteTurnsARingOfFourWithTwoElementsEach) {
  on_mesh(kLine, [](Program& program) {
    const at::Tensor all = at::arange(8, at::kFloat);
    const at::Tensor mine = all.narrow(0, 2 * program.rank(), 2);
    const at::Tensor turned =
        Manual(program).ppermute(mine, {"x"}, {{0, 1}, {1, 2}, {2, 3}, {3, 0}});
    expect_bits(turned, all.narrow(0, 2 * ((program.rank() + 3) % 4), 2));
  });
}

TEST(Manual, J4_PpermuteGivesZerosToWhomNobodySends) {
  on_mesh(kLine, [](Program& program) {
    const at::Tensor mine = at::full({2}, 7 + program.rank(), at::kFloat);
    const at::Tensor got = Manual(program).ppermute(mine, {"x"}, {{0, 1}});
    expect_bits(got, program.rank() == 1 ? at::full({2}, 7, at::kFloat) : at::zeros({2}));
  });
}

TEST(Manual, J5_GathersAndScattersAlongOneAxisAndAlongTwo) {
  on_mesh({{"x", 2}, {"y", 2}, {"z", 2}}, [](Program& program) {
    const Manual ranks(program);
    const at::Tensor whole = at::arange(64, at::kFloat).view({8, 8});
    // P("z", ("x", "y"))
    const int64_t z = ranks.axis_index({"z"});
    const int64_t xy = ranks.axis_index({"x", "y"});
    const at::Tensor local = whole.narrow(0, 4 * z, 4).narrow(1, 2 * xy, 2);
    expect_bits(ranks.all_gather(local, {"z"}, 0), whole.narrow(1, 2 * xy, 2));
    expect_bits(ranks.all_gather(local, {"x", "y"}, 1), whole.narrow(0, 4 * z, 4));
    const at::Tensor sum = whole.narrow(0, 0, 4) + whole.narrow(0, 4, 4);
    expect_bits(ranks.psum_scatter(local, {"z"}, 0), sum.narrow(0, 2 * z, 2).narrow(1, 2 * xy, 2));
  });
}

TEST(Manual, J6_AllToAllMovesTheSplitFromOneDimToAnother) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const Manual ranks(program);
    const at::Tensor whole = at::arange(64, at::kFloat).view({8, 8});
    const at::Tensor rows = whole.narrow(0, 4 * program.rank(), 4);
    const at::Tensor columns = ranks.all_to_all(rows, {"x"}, 1, 0);
    EXPECT_EQ(columns.sizes(), at::IntArrayRef({8, 4}));
    expect_bits(columns, whole.narrow(1, 4 * program.rank(), 4));
    expect_bits(ranks.all_to_all(columns, {"x"}, 0, 1), rows);
  });
}

TEST(Manual, UntiledFormsAddAndRemoveADim) {
  on_mesh(kLine, [](Program& program) {
    const Manual ranks(program);
    const at::Tensor mine = quarter(program);
    const at::Tensor stacked = ranks.all_gather(mine, {"x"}, 0, /*tiled=*/false);
    EXPECT_EQ(stacked.sizes(), at::IntArrayRef({4, 4}));
    expect_bits(stacked.select(0, program.rank()), mine);
    const at::Tensor behind = ranks.all_gather(mine, {"x"}, -1, /*tiled=*/false);
    expect_bits(behind, stacked.t());
    const at::Tensor own = ranks.psum_scatter(mine, {"x"}, 0, /*tiled=*/false);
    EXPECT_EQ(own.dim(), 0);
    EXPECT_EQ(own.item<float>(), ranks.psum(mine, {"x"})[program.rank()].item<float>());
  });
}

TEST(Manual, UnevenPartsAreFloorIntervals) {
  on_mesh({{"x", 3}}, [](Program& program) {
    const Manual ranks(program);
    const at::Tensor whole = numbers({10, 2}, 0.4);
    const at::Tensor sum = ranks.psum_scatter(whole, {"x"}, 0);  // 3, 3, 4 rows
    EXPECT_EQ(sum.size(0), program.rank() == 2 ? 4 : 3);
    EXPECT_TRUE(at::allclose(ranks.all_gather(sum, {"x"}, 0, true, 10), 3 * whole, 1e-6, 1e-6));
    const at::Tensor columns = ranks.all_to_all(sum, {"x"}, 1, 0, 10);  // 0, 1, 1 columns
    EXPECT_EQ(columns.sizes(), at::IntArrayRef({10, program.rank() == 0 ? 0 : 1}));
  });
}

/// x's gradient when `seed` comes back into `collective(x)`.
at::Tensor gradient_of(const std::function<at::Tensor(const at::Tensor&)>& collective,
                       const at::Tensor& x,
                       const at::Tensor& seed) {
  const at::Tensor leaf = x.detach().clone().set_requires_grad(true);
  torch::autograd::backward({collective(leaf)}, {seed});
  return leaf.grad();
}

TEST(Manual, EveryTransposeIsTheTransposeOfItsMap) {
  // <collective(x), seed> summed over ranks = <x, transpose(seed)> summed over ranks.
  using Collective = std::function<at::Tensor(const Manual&, const at::Tensor&)>;
  const std::vector<std::pair<std::string, Collective>> collectives = {
      {"psum", [](const Manual& m, const at::Tensor& x) { return m.psum(x, {"x"}); }},
      {"psum both",
       [](const Manual& m, const at::Tensor& x) {
         return m.psum(x, {"y", "x"});
       }},
      {"gather", [](const Manual& m, const at::Tensor& x) { return m.all_gather(x, {"x"}, 1); }},
      {"stack",
       [](const Manual& m, const at::Tensor& x) { return m.all_gather(x, {"y"}, 1, false); }},
      {"scatter", [](const Manual& m, const at::Tensor& x) { return m.psum_scatter(x, {"x"}, 1); }},
      {"permute",
       [](const Manual& m, const at::Tensor& x) {
         return m.ppermute(x, {"x"}, {{0, 2}, {1, 1}, {2, 3}});
       }},
      {"exchange",
       [](const Manual& m, const at::Tensor& x) { return m.all_to_all(x, {"x"}, 1, 0); }}};
  on_mesh({{"x", 4}, {"y", 2}}, [&](Program& program) {
    const Manual ranks(program);
    const at::Tensor x = numbers({3, 10}, 0.1 + static_cast<double>(program.rank()));
    for (const auto& [name, collective] : collectives) {
      const at::Tensor y = collective(ranks, x);
      const at::Tensor seed = numbers(y.sizes(), 2.0 + static_cast<double>(program.rank()));
      const at::Tensor dx =
          gradient_of([&](const at::Tensor& leaf) { return collective(ranks, leaf); }, x, seed);
      const at::Tensor forward = ranks.psum((y * seed).sum(), {"x", "y"});
      const at::Tensor backward = ranks.psum((x * dx).sum(), {"x", "y"});
      EXPECT_NEAR(forward.item<float>(), backward.item<float>(), 1e-3) << name;
      EXPECT_GT(std::abs(forward.item<float>()), 1e-3) << name << ": the test sees nothing";
    }
  });
}

TEST(Manual, BackwardThroughAnExtremeSaysThatThereIsNone) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const Manual ranks(program);
    const at::Tensor leaf = quarter(program).set_requires_grad(true);
    const at::Tensor top = ranks.pmax(leaf, {"x"});
    EXPECT_THAT(refusal([&] { torch::autograd::backward({top}, {at::ones_like(top)}); }),
                HasSubstr("pmax has no gradient; detach()"));
  });
}

TEST(Manual, WritesTheLedgerForwardAndBackward) {
  on_mesh({{"x", 2}, {"y", 2}}, [](Program& program) {
    const Manual ranks(program);
    program.ledger().clear();
    gradient_of([&](const at::Tensor& x) { return ranks.all_gather(x, {"y"}, 0); },
                numbers({3, 5}, 0),
                numbers({6, 5}, 1));
    ASSERT_EQ(program.ledger().entries().size(), 2U);
    const LedgerEntry& gather = program.ledger().entries()[0];
    EXPECT_EQ(gather.reason, "shard_map: all_gather");
    EXPECT_EQ(gather.source, "shard_map");
    EXPECT_EQ(gather.axes, mesh::AxisNames{"y"});
    EXPECT_EQ(gather.group_bytes, 6 * 5 * 4);
    EXPECT_EQ(gather.pass, Pass::kForward);
    EXPECT_EQ(program.ledger().entries()[1].pass, Pass::kBackward);
    EXPECT_EQ(program.ledger().entries()[1].group_bytes, 6 * 5 * 4);

    program.ledger().clear();
    (void)ranks.ppermute(numbers({3}, 0), {"y"}, {{0, 1}, {1, 0}});
    (void)ranks.pmax(numbers({3}, 0), {"x"});
    ASSERT_EQ(program.ledger().entries().size(), 2U);
    EXPECT_EQ(program.ledger().entries()[0].reason, "shard_map: ppermute");
    EXPECT_EQ(program.ledger().entries()[0].group_bytes, 2 * 3 * 4);
    EXPECT_EQ(program.ledger().entries()[1].reason, "shard_map: pmax");
    EXPECT_EQ(program.ledger().entries()[1].group_bytes, 2 * 3 * 4);
  });
}

TEST(Manual, IsFreeAlongAnAxisOfOne) {
  on_mesh({{"x", 1}, {"y", 2}}, [](Program& program) {
    const Manual ranks(program);
    const at::Tensor mine = quarter(program);
    expect_bits(ranks.psum(mine, {"x"}), mine);
    expect_bits(ranks.pmin(mine, {"x"}), mine);
    expect_bits(ranks.all_gather(mine, {"x"}), mine);
    expect_bits(ranks.psum_scatter(mine, {"x"}), mine);
    expect_bits(ranks.ppermute(mine, {"x"}, {{0, 0}}), mine);
    expect_bits(ranks.ppermute(mine, {"x"}, {}), at::zeros({4}));
    expect_bits(ranks.all_to_all(mine.view({2, 2}), {"x"}, 0, 1), mine.view({2, 2}));
    EXPECT_TRUE(program.ledger().entries().empty());
  });
}

TEST(Manual, RefusesWhatCannotBeMeant) {
  on_mesh({{"x", 2}, {"y", 1}}, [](Program& program) {
    const Manual ranks(program);
    const at::Tensor t = numbers({4, 3}, 0);
    EXPECT_THAT(refusal([&] { (void)ranks.psum(t, {"z"}); }),
                HasSubstr("psum over \"z\": the mesh x=2 x y=1 has no such axis"));
    EXPECT_THAT(refusal([&] { (void)ranks.psum(t, {"x", "x"}); }), HasSubstr("\"x\" twice"));
    EXPECT_THAT(refusal([&] { (void)ranks.psum(t, {}); }), HasSubstr("psum names no axis"));
    EXPECT_THAT(refusal([&] { (void)ranks.all_gather(t, {"x"}, 2); }),
                HasSubstr("all_gather: dim 2 of a tensor of 2 dims"));
    EXPECT_THAT(refusal([&] { (void)ranks.all_gather(t, {"x"}, 0, true, 12); }),
                HasSubstr("holds 4 of dim 0; its part of 12 is 6"));
    EXPECT_THAT(refusal([&] { (void)ranks.psum_scatter(t, {"x"}, 0, false); }),
                HasSubstr("dim 0 has 4 elements, expected one for each of 2 ranks"));
    EXPECT_THAT(refusal([&] {
                  (void)ranks.ppermute(t, {"x"}, {{0, 2}});
                }),
                HasSubstr("the pair (0, 2) leaves the 2 ranks of \"x\""));
    EXPECT_THAT(refusal([&] {
                  (void)ranks.ppermute(t, {"x"}, {{0, 1}, {1, 1}});
                }),
                HasSubstr("the pair (1, 1) names a source or a destination for the second time"));
    EXPECT_THAT(refusal([&] { (void)ranks.all_to_all(t, {"x"}, 1, -1); }),
                HasSubstr("splits and joins dim 1"));
  });
}

}  // namespace
}  // namespace brigade::tensor
