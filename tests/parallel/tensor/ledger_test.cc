// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/ledger.h"

#include <mutex>
#include <set>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "parallel/tensor/casts.h"
#include "parallel/tensor/ops/einsum.h"
#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::CastKind;
using sharding::PartitionSpec;

/// 7 x 6 floats: no degree divides both.
constexpr int64_t kBytes = 7 * 6 * 4;

/// The entries of one cast and of its backward.
std::vector<LedgerEntry> entries_of(Program& program,
                                    const PartitionSpec& from,
                                    const PartitionSpec& to) {
  ShardedTensor x = place(program, numbers({7, 6}, 0), from);
  const ShardedTensor leaf(program, x.type(), x.local().detach().clone().set_requires_grad(true));
  program.ledger().clear();
  const ShardedTensor y = reshard(leaf, to, "test");
  torch::autograd::backward({y.local()}, {at::ones_like(y.local())});
  return program.ledger().entries();
}

/// A column- and a row-parallel product, forward and backward.
void tiny_step(Program& program) {
  const auto leaf = [&](at::IntArrayRef sizes, const PartitionSpec& spec) {
    const ShardedTensor piece = place(program, numbers(sizes, 1), spec);
    return ShardedTensor(program, piece.type(), piece.local().detach().set_requires_grad(true));
  };
  const ShardedTensor x = leaf({4, 6}, PartitionSpec().with_reduced({"x"}));
  const ShardedTensor up = leaf({5, 6}, PartitionSpec({{"x"}, {}}));
  const ShardedTensor down = leaf({6, 5}, PartitionSpec({{}, {"x"}}));
  program.ledger().clear();
  const ShardedTensor y = einsum("bh,dh->bd", einsum("bd,hd->bh", x, up), down, PartitionSpec());
  torch::autograd::backward({y.local()}, {at::ones_like(y.local())});
}

TEST(Ledger, CountsTheBytesThatCrossWithinTheGroup) {
  const PartitionSpec whole;
  const PartitionSpec rows({{"x"}, {}});
  const PartitionSpec sum = whole.with_unreduced({"x"});
  for (const int64_t ranks : {2, 3}) {
    on_mesh({{"x", ranks}}, [&](Program& program) {
      const auto expect = [&](const PartitionSpec& from,
                              const PartitionSpec& to,
                              const std::vector<std::pair<CastKind, int64_t>>& wanted) {
        const std::vector<LedgerEntry> found = entries_of(program, from, to);
        ASSERT_EQ(found.size(), wanted.size());
        for (size_t i = 0; i < found.size(); ++i) {
          EXPECT_EQ(found[i].cast, wanted[i].first) << to_string(found[i].cast);
          EXPECT_EQ(found[i].group_bytes, wanted[i].second) << to_string(found[i].cast);
          EXPECT_EQ(found[i].axes, mesh::AxisNames{"x"});
          EXPECT_EQ(found[i].reason.find("test"), 0U) << found[i].reason;
        }
      };
      const int64_t others = ranks - 1;
      expect(rows, whole, {{CastKind::kGather, others * kBytes}});
      expect(whole, rows, {{CastKind::kGather, others * kBytes}});  // of the slice's backward
      expect(rows,
             whole.with_reduced({"x"}),
             {{CastKind::kGatherReduced, others * kBytes},
              {CastKind::kReduceScatter, others * kBytes}});
      expect(sum,
             rows,
             {{CastKind::kReduceScatter, others * kBytes},
              {CastKind::kGatherReduced, others * kBytes}});
      expect(sum, whole, {{CastKind::kAllReduce, 2 * others * kBytes}});
      expect(whole, whole.with_reduced({"x"}), {{CastKind::kAllReduce, 2 * others * kBytes}});
      expect(whole, sum, {});
    });
  }
}

TEST(Ledger, CountsWhatAnExchangeOfRowsForColumnsMoves) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const ShardedTensor rows = place(program, numbers({4, 6}, 0), PartitionSpec({{"x"}, {}}));
    program.ledger().clear();
    (void)reshard(rows, PartitionSpec({{}, {"x"}}), "test");
    ASSERT_EQ(program.ledger().entries().size(), 1U);
    EXPECT_EQ(program.ledger().entries()[0].cast, CastKind::kAllToAll);
    EXPECT_EQ(program.ledger().bytes(), 4 * 6 * 4 / 2);  // half of its own half stays on each rank
  });
}

TEST(Ledger, CountsTheBoxesThatAPermuteTakesToOtherRanks) {
  on_mesh({{"x", 2}, {"y", 2}}, [](Program& program) {
    const ShardedTensor boxes = place(program, numbers({4, 6}, 0), PartitionSpec({{"x"}, {"y"}}));
    program.ledger().clear();
    (void)reshard(boxes, PartitionSpec({{"y"}, {"x"}}), "test");
    ASSERT_EQ(program.ledger().entries().size(), 1U);
    EXPECT_EQ(program.ledger().entries()[0].cast, CastKind::kPermute);
    EXPECT_EQ(program.ledger().bytes(), 2 * 2 * 3 * 4);  // two of four boxes of 2 x 3
  });
}

TEST(Ledger, TellsForwardFromBackward) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const std::vector<LedgerEntry> entries =
        entries_of(program, PartitionSpec({{"x"}}), PartitionSpec().with_reduced({"x"}));
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[0].pass, Pass::kForward);
    EXPECT_EQ(entries[1].pass, Pass::kBackward);
  });
}

TEST(Ledger, IsEqualOnAllRanksAndFromStepToStep) {
  std::mutex mutex;
  std::set<uint64_t> hashes;
  on_mesh({{"x", 3}}, [&](Program& program) {
    tiny_step(program);
    const Ledger first = program.ledger();
    const int64_t plans = program.plans_made();
    EXPECT_FALSE(first.entries().empty());
    tiny_step(program);
    EXPECT_EQ(program.ledger().entries(), first.entries());
    EXPECT_EQ(program.ledger().hash(), first.hash());
    EXPECT_EQ(program.plans_made(), plans) << "the second step planned anew";
    const std::lock_guard<std::mutex> lock(mutex);
    hashes.insert(first.hash());
  });
  EXPECT_EQ(hashes.size(), 1U);
}

TEST(Ledger, HashesEveryFieldAndTheOrder) {
  const LedgerEntry entry{CastKind::kGather, {"x"}, 8, Pass::kForward, "why", "op"};
  std::vector<LedgerEntry> changed(7, entry);
  changed[0].cast = CastKind::kGatherReduced;
  changed[1].axes = {"x", "y"};
  changed[2].group_bytes = 9;
  changed[3].pass = Pass::kBackward;
  changed[4].reason = "why not";
  changed[5].source = "other";
  changed[6].reduction = sharding::Reduction::kMax;
  const auto hash_of = [](const std::vector<LedgerEntry>& entries) {
    Ledger ledger;
    for (const LedgerEntry& one : entries) {
      ledger.write(one);
    }
    return ledger.hash();
  };
  for (const CastKind cast : {CastKind::kSlice,
                              CastKind::kSliceReduced,
                              CastKind::kMarkReduced,
                              CastKind::kAllReduce,
                              CastKind::kReduceScatter,
                              CastKind::kKeepFirst,
                              CastKind::kPlace,
                              CastKind::kAllToAll,
                              CastKind::kPermute}) {
    changed.push_back(entry);
    changed.back().cast = cast;
  }
  std::set<uint64_t> hashes = {hash_of({}), hash_of({entry}), hash_of({entry, entry})};
  for (const LedgerEntry& other : changed) {
    hashes.insert(hash_of({other}));
    hashes.insert(hash_of({entry, other}));
    hashes.insert(hash_of({other, entry}));
  }
  EXPECT_EQ(hashes.size(), 3 + 3 * changed.size());
}

TEST(Ledger, AddsItsBytesAndForgets) {
  Ledger ledger;
  ledger.write({CastKind::kGather, {"x"}, 8, Pass::kForward, "one"});
  ledger.write({CastKind::kAllReduce, {"x"}, 34, Pass::kStep, "two"});
  EXPECT_EQ(ledger.bytes(), 42);
  ledger.clear();
  EXPECT_EQ(ledger.bytes(), 0);
  EXPECT_EQ(ledger.hash(), Ledger().hash());
}

}  // namespace
}  // namespace brigade::tensor
