// SPDX-License-Identifier: Apache-2.0
/// One cast at a time on values known by hand; casts_test.cc has every cast on every mesh, with
/// gradients.
#include "parallel/tensor/move.h"

#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "parallel/tensor/sharded_tensor.h"
#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::CastKind;
using sharding::CastStep;
using sharding::PartitionSpec;
using sharding::Reduction;
using sharding::TensorType;

/// Two ranks, five rows: rank 0 has two of them.
constexpr int64_t kRows = 5;

TensorType type_of(const PartitionSpec& spec) {
  return {DType::kFloat32, {kRows, 2}, spec};
}

const PartitionSpec kWhole;
const PartitionSpec kSplit({{"x"}, {}});
const PartitionSpec kColumns({{}, {"x"}});

CastStep step_to(CastKind kind, const PartitionSpec& to, int64_t dim, int64_t to_dim = -1) {
  return {kind, {"x"}, dim, to_dim, type_of(to)};
}

at::Tensor whole() {
  return at::arange(2 * kRows, at::kFloat).view({kRows, 2});
}

at::Tensor mine(Program& program) {
  return program.rank() == 0 ? whole().narrow(0, 0, 2) : whole().narrow(0, 2, 3);
}

at::Tensor moved(Program& program,
                 const PartitionSpec& from,
                 const CastStep& step,
                 const at::Tensor& local) {
  return move(program, type_of(from), step, local, {Pass::kStep, "because"});
}

TEST(Move, SlicesThisRanksRowsAndTellsNobody) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const at::Tensor rows = moved(program, kWhole, step_to(CastKind::kSlice, kSplit, 0), whole());
    EXPECT_TRUE(at::equal(rows, mine(program)));
    EXPECT_TRUE(program.ledger().entries().empty());
  });
}

TEST(Move, PlacesThisRanksRowsAmongZeros) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const at::Tensor placed = moved(
        program, kSplit, step_to(CastKind::kPlace, kWhole.with_unreduced({"x"}), 0), mine(program));
    const int64_t begin = program.rank() == 0 ? 0 : 2;
    EXPECT_TRUE(at::equal(placed.narrow(0, begin, mine(program).size(0)), mine(program)));
    EXPECT_EQ(placed.sizes(), whole().sizes());
    EXPECT_TRUE(at::equal(placed.sum(), mine(program).sum()));
  });
}

TEST(Move, KeepsTheFirstRanksCopyAlone) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const at::Tensor kept = moved(
        program, kWhole, step_to(CastKind::kKeepFirst, kWhole.with_unreduced({"x"}), -1), whole());
    EXPECT_TRUE(at::equal(kept, program.rank() == 0 ? whole() : at::zeros_like(whole())));
  });
}

TEST(Move, MarksWithoutTouchingAByte) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const at::Tensor local = whole();
    const at::Tensor marked = moved(
        program, kWhole, step_to(CastKind::kMarkReduced, kWhole.with_reduced({"x"}), -1), local);
    EXPECT_TRUE(marked.is_same(local));
  });
}

TEST(Move, GathersAndSums) {
  on_mesh({{"x", 2}}, [](Program& program) {
    EXPECT_TRUE(at::equal(
        moved(program, kSplit, step_to(CastKind::kGather, kWhole, 0), mine(program)), whole()));
    const PartitionSpec sum = kWhole.with_unreduced({"x"});
    const at::Tensor term = whole() * static_cast<double>(program.rank() + 1);
    EXPECT_TRUE(at::equal(moved(program, sum, step_to(CastKind::kAllReduce, kWhole, -1), term),
                          whole() * 3));
    EXPECT_TRUE(at::equal(term, whole() * static_cast<double>(program.rank() + 1)))
        << "the operand was overwritten";
    EXPECT_TRUE(at::equal(moved(program, sum, step_to(CastKind::kReduceScatter, kSplit, 0), term),
                          mine(program) * 3));
  });
}

TEST(Move, ExchangesRowsForColumns) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const TensorType from{DType::kFloat32, {4, 2}, kSplit};
    const TensorType to{DType::kFloat32, {4, 2}, kColumns};
    const CastStep step{CastKind::kAllToAll, {"x"}, 0, 1, to};
    const at::Tensor square = numbers({4, 2}, 0.5);
    const at::Tensor rows = square.narrow(0, 2 * program.rank(), 2);
    EXPECT_TRUE(at::equal(move(program, from, step, rows, {Pass::kStep, "because"}),
                          square.narrow(1, program.rank(), 1)));
  });
}

TEST(Move, PermutesBoxes) {
  on_mesh({{"x", 2}, {"y", 2}}, [](Program& program) {
    const TensorType from{DType::kFloat32, {4, 2}, PartitionSpec({{"x"}, {"y"}})};
    const TensorType to{DType::kFloat32, {4, 2}, PartitionSpec({{"y"}, {"x"}})};
    const CastStep step{CastKind::kPermute, {"x", "y"}, -1, -1, to};
    const at::Tensor all = numbers({4, 2}, 0.5);
    const int64_t x = program.rank() / 2;
    const int64_t y = program.rank() % 2;
    const at::Tensor box = all.narrow(0, 2 * x, 2).narrow(1, y, 1);
    EXPECT_TRUE(at::equal(move(program, from, step, box, {Pass::kStep, "because"}),
                          all.narrow(0, 2 * y, 2).narrow(1, x, 1)));
  });
}

TEST(Move, PermutesPiecesOfBoxesWhereAxesOfDifferentSizesChangePlaces) {
  on_mesh({{"x", 4}, {"y", 2}}, [](Program& program) {
    const TensorType from{DType::kFloat32, {8, 4}, PartitionSpec({{"x"}, {"y"}})};
    const TensorType to{DType::kFloat32, {8, 4}, PartitionSpec({{"y"}, {"x"}})};
    const CastStep step{CastKind::kPermute, {"x", "y"}, -1, -1, to};
    const at::Tensor all = numbers({8, 4}, 0.5);
    const int64_t x = program.rank() / 2;
    const int64_t y = program.rank() % 2;
    const at::Tensor box = all.narrow(0, 2 * x, 2).narrow(1, 2 * y, 2);
    EXPECT_TRUE(at::equal(move(program, from, step, box, {Pass::kStep, "because"}),
                          all.narrow(0, 4 * y, 4).narrow(1, x, 1)));
    EXPECT_EQ(program.ledger().bytes(), 24 * 4);  // three quarters of eight boxes of four
  });
}

TEST(Move, F10_JoinsTermsOfAMaximumByTheMaximum) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const auto terms = [](Reduction kind) {
      return TensorType{DType::kFloat32, {2}, PartitionSpec().with_unreduced({"x"}, kind)};
    };
    const TensorType joined{DType::kFloat32, {2}, PartitionSpec()};
    const TensorType scattered{DType::kFloat32, {2}, PartitionSpec({{"x"}})};
    const at::Tensor local =
        at::arange(4 * program.rank(), 4 * program.rank() + 4, at::kFloat).narrow(0, 2, 2);
    const auto join = [&](CastKind cast, int64_t dim, const TensorType& to, Reduction kind) {
      const CastStep step{cast, {"x"}, dim, -1, to, kind};
      return move(program, terms(kind), step, local, {Pass::kStep, "because"});
    };
    const at::Tensor max = join(CastKind::kAllReduce, -1, joined, Reduction::kMax);
    EXPECT_TRUE(at::equal(max, at::arange(6, 8, at::kFloat)));
    const at::Tensor min = join(CastKind::kAllReduce, -1, joined, Reduction::kMin);
    EXPECT_TRUE(at::equal(min, at::arange(2, 4, at::kFloat)));
    const at::Tensor part = join(CastKind::kReduceScatter, 0, scattered, Reduction::kMax);
    EXPECT_TRUE(at::equal(part, at::full({1}, 6.0F + static_cast<float>(program.rank()))));
  });
}

TEST(Move, WritesTheSameEntryOnRanksThatHoldDifferentlyMuch) {
  on_mesh({{"x", 2}}, [&](Program& program) {
    moved(program, kSplit, step_to(CastKind::kGather, kWhole, 0), mine(program));
    const LedgerEntry wanted{CastKind::kGather, {"x"}, 40, Pass::kStep, "because"};
    EXPECT_EQ(program.ledger().entries(), std::vector<LedgerEntry>{wanted});
  });
}

TEST(Move, DoesNothingInAGroupOfOne) {
  on_mesh({{"x", 1}}, [](Program& program) {
    const at::Tensor local = whole();
    EXPECT_TRUE(
        moved(program, kSplit, step_to(CastKind::kGather, kWhole, 0), local).is_same(local));
    EXPECT_TRUE(program.ledger().entries().empty());
  });
}

}  // namespace
}  // namespace brigade::tensor
