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
