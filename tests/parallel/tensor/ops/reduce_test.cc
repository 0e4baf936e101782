// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ops/reduce.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel/tensor/casts.h"
#include "parallel/tensor/ops/create.h"
#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;
using ::testing::HasSubstr;

/// x's dims whole and split, evenly and not, with empty pieces; sums pass.
const std::vector<Placed> kPlacements = {{"x1", {"5,3"}},
                                         {"x2", {"5@x,3"}},
                                         {"x2", {"5,3@x"}},
                                         {"x2", {"5,3{R:x}"}},
                                         {"x8", {"5@x,3"}},
                                         {"x2,y4", {"5@x,9@y"}},
                                         {"x2,y4", {"9@(x,y),2"}},
                                         {"x3,y2", {"7@(x,y),2"}},
                                         {"x3,y2", {"7@x,2{R:y}"}}};

TEST(Sum, EqualsLibtorchOnEveryMeshInRowsF1ToF5) {
  std::vector<Placed> placements = kPlacements;
  placements.push_back({"x2", {"5,3{U:x}"}});
  placements.push_back({"x2,y2", {"5@y,3{U:x}"}});
  for (const int64_t dim : {0, 1, -1}) {
    for (const bool keep : {false, true}) {
      expect_equal_to_libtorch(
          placements,
          [&](const auto& of) { return sum(of[0], {dim}, keep); },
          [&](const auto& of) { return at::sum(of[0], {dim}, keep); });
    }
  }
  expect_equal_to_libtorch(
      placements,
      [](const auto& of) { return sum(of[0]); },
      [](const auto& of) { return at::sum(of[0]); });
}

TEST(Sum, OfNoDimsIsTheTensor) {
  expect_equal_to_libtorch(
      {{"x2", {"5@x,3"}}},
      [](const auto& of) { return sum(of[0], {}); },
      [](const auto& of) { return of[0] * 1; });
}

TEST(Sum, HasTheTypesOfRowsF1ToF5) {
  const auto along = [](int64_t dim) {
    return [dim](const auto& of) { return sum(of[0], {dim}); };
  };
  EXPECT_EQ(type_of({"x2,y2", {"8@x,2@y"}}, [](const auto& of) { return sum(of[0]); }), "f32[]");
  EXPECT_EQ(type_of({"x2,y2", {"8@x,2@y"}}, along(0)), "f32[2@y]");
  EXPECT_EQ(type_of({"x2,y2", {"8@x,2@y"}}, along(1)), "f32[8@x]");
  EXPECT_EQ(type_of({"x2,y2", {"8@(x,y),2"}}, along(1)), "f32[8@(x,y)]");
  EXPECT_EQ(type_of({"x2,y2", {"8@(x,y),2"}}, [](const auto& of) { return sum(of[0], {1}, true); }),
            "f32[8@(x,y),1]");
}

TEST(Sum, ReducesForwardAloneInRowsF1ToF5) {
  EXPECT_EQ(ledger_of({"x2,y2", {"8@x,2@y"}}, [](const auto& of) { return sum(of[0]); }),
            "forward all_reduce x,y 24");
  EXPECT_EQ(ledger_of({"x2,y2", {"8@x,2@y"}}, [](const auto& of) { return sum(of[0], {0}); }),
            "forward all_reduce x 8");
  EXPECT_EQ(ledger_of({"x2,y2", {"8@(x,y),2"}}, [](const auto& of) { return sum(of[0], {1}); }),
            "");
}

TEST(Sum, KeepsTermsAsOutSaysInRowF8) {
  const PartitionSpec out = PartitionSpec().with_unreduced({"x"});
  const Op op = [&](const auto& of) { return sum(of[0], {0, 1}, false, out); };
  const Placed placed{"x2,y2", {"4@x,2@y,2"}};
  EXPECT_EQ(type_of(placed, op), "f32[2]{U:x}");
  EXPECT_EQ(ledger_of(placed, op), "forward all_reduce y 16");
  expect_equal_to_libtorch({placed}, op, [](const auto& of) { return at::sum(of[0], {0, 1}); });
}

TEST(Sum, ScattersTermsAsOutSays) {
  const Op op = [](const auto& of) { return sum(of[0], {0}, false, PartitionSpec({{"x"}})); };
  EXPECT_EQ(ledger_of({"x2", {"4@x,2"}}, op),
            "forward reduce_scatter x 8; backward gather_reduced x 8");
  expect_equal_to_libtorch({{"x2", {"4@x,2"}}, {"x4", {"3@x,5"}}}, op, [](const auto& of) {
    return at::sum(of[0], {0});
  });
}

TEST(Sum, OfAnUnreducedRangeHasTheTermsOfRowI2) {
  on_mesh("x2", [](Program& program) {
    const ShardedTensor range =
        iota(program, {DType::kFloat32, {8}, PartitionSpec({{"x"}})}, /*dim=*/0);
    const ShardedTensor terms = sum(range, {0}, false, PartitionSpec().with_unreduced({"x"}));
    EXPECT_EQ(terms.local().item<float>(), program.rank() == 0 ? 6 : 22);
    EXPECT_EQ(reshard(terms, PartitionSpec(), "test").local().item<float>(), 28);
  });
}

TEST(Sum, OfMasksCounts) {
  expect_equal_to_libtorch(
      {{"x2", {"bool[5@x,3]"}}},
      [](const auto& of) { return sum(of[0], {0}); },
      [](const auto& of) { return at::sum(of[0], {0}); });
}

TEST(Sum, RefusesDimsThatAreNotThereAndExtremes) {
  EXPECT_EQ(refusal_of({"x2", {"8@x,2"}}, [](const auto& of) { return sum(of[0], {2}); }),
            "sum: dims (2) are not different dims of operand 0 f32[8@x,2]");
  EXPECT_EQ(refusal_of({"x2", {"8,2{Umax:x}"}}, [](const auto& of) { return sum(of[0], {0}); }),
            "sum: operand 0 f32[8,2]{Umax:x} holds terms of a max over x, which only a max lets "
            "through; reshard it to finish the max");
}

TEST(Mean, DividesByTheGlobalCount) {
  for (const bool keep : {false, true}) {
    expect_equal_to_libtorch(
        kPlacements,
        [&](const auto& of) { return mean(of[0], {0}, keep); },
        [&](const auto& of) { return at::mean(of[0], {0}, keep); });
  }
  expect_equal_to_libtorch(
      kPlacements,
      [](const auto& of) { return mean(of[0]); },
      [](const auto& of) { return at::mean(of[0]); });
}

TEST(Mean, RefusesWholeNumbers) {
  EXPECT_EQ(refusal_of({"x2", {"i64[4@x]"}}, [](const auto& of) { return mean(of[0]); }),
            "mean: expected floats, found i64[4@x]; cast it with to()");
}

TEST(Mean, NamesItselfInTheLedger) {
  on_mesh("x2", [](Program& program) {
    const ShardedTensor x = place(program, numbers({4}, 0), PartitionSpec({{"x"}}));
    program.ledger().clear();
    (void)mean(x);
    ASSERT_EQ(program.ledger().entries().size(), 1U);
    EXPECT_EQ(program.ledger().entries()[0].reason, "mean: a reduced dim is split over x");
    EXPECT_EQ(program.ledger().entries()[0].source, "mean");
  });
}

TEST(Reduce, SumsBf16InFloat) {
  const std::vector<Placed> placements = {{"x1", {"500,3"}}, {"x2", {"500@x,3"}}};
  for (const bool average : {false, true}) {
    expect_bf16_rounds_float(placements, [&](const auto& of) {
      return average ? mean(of[0], {0}, false, PartitionSpec())
                     : sum(of[0], {0}, false, PartitionSpec());
    });
  }
}

}  // namespace
}  // namespace brigade::tensor
