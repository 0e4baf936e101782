// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/casts.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;

Op reshard_to(const PartitionSpec& spec) {
  return [spec](const std::vector<ShardedTensor>& operands) {
    return reshard(operands[0], spec, "test");
  };
}

const PartitionSpec kWhole;

struct Move {
  const char* name;
  PartitionSpec from;
  PartitionSpec to;
};

std::vector<Move> moves() {
  const PartitionSpec rows({{"x"}, {}});
  const PartitionSpec columns({{}, {"x"}});
  const PartitionSpec reduced = kWhole.with_reduced({"x"});
  const PartitionSpec unreduced = kWhole.with_unreduced({"x"});
  return {{"Slice", kWhole, rows},
          {"SliceColumns", kWhole, columns},
          {"Gather", rows, kWhole},
          {"GatherColumns", columns, kWhole},
          {"GatherReduced", rows, reduced},
          {"GatherColumnsReduced", columns, reduced},
          {"SliceReduced", reduced, rows},
          {"MarkReduced", kWhole, reduced},
          {"AllReduce", unreduced, kWhole},
          {"ReduceScatter", unreduced, rows},
          {"ReduceScatterColumns", unreduced, columns},
          {"KeepFirst", kWhole, unreduced},
          {"Place", rows, unreduced},
          {"AllToAll", rows, columns}};
}

TEST(Casts, KeepValuesAndGradientsOnEvenSizes) {
  const at::Tensor whole = at::arange(32, at::kFloat).view({8, 4});
  for (const Move& move : moves()) {
    for (const int64_t ranks : {2, 4}) {
      SCOPED_TRACE(std::string(move.name) + " over " + std::to_string(ranks));
      expect_equal_to_one_rank({{"x", ranks}}, {{whole, move.from}}, reshard_to(move.to));
    }
  }
}

TEST(Casts, KeepValuesAndGradientsOnUnevenSizes) {
  const at::Tensor whole = at::arange(35, at::kFloat).view({5, 7});
  for (const Move& move : moves()) {
    for (const int64_t ranks : {2, 3, 8}) {
      SCOPED_TRACE(std::string(move.name) + " over " + std::to_string(ranks));
      expect_equal_to_one_rank({{"x", ranks}}, {{whole, move.from}}, reshard_to(move.to));
    }
  }
}

TEST(Casts, GatherTheMinorAxisOfADimOverTwo) {
  const at::Tensor whole = at::arange(22, at::kFloat).view({11, 2});
  const PartitionSpec::Dim x_then_y = {"x", "y"};
  const PartitionSpec both(std::vector<PartitionSpec::Dim>{x_then_y});
  const PartitionSpec major({{"x"}});
  for (const auto& axes :
       {std::vector<mesh::Axis>{{"x", 2}, {"y", 4}}, std::vector<mesh::Axis>{{"x", 3}, {"y", 2}}}) {
    expect_equal_to_one_rank(axes, {{whole, both}}, reshard_to(major));
    expect_equal_to_one_rank(axes, {{whole, both}}, reshard_to(kWhole));
    expect_equal_to_one_rank(axes, {{whole, both}}, reshard_to(major.with_reduced({"y"})));
    expect_equal_to_one_rank(axes, {{whole, major.with_unreduced({"y"})}}, reshard_to(both));
  }
}

TEST(Casts, WriteTheWholeGroupsBytesToTheLedger) {
  const at::Tensor whole = at::ones({8, 4});
  on_mesh({{"x", 4}}, [&](Program& program) {
    const ShardedTensor rows = place(program, whole, PartitionSpec({{"x"}}));
    program.ledger().clear();
    (void)reshard(rows, kWhole, "because");
    ASSERT_EQ(program.ledger().entries().size(), 1U);
    const LedgerEntry& entry = program.ledger().entries().front();
    EXPECT_EQ(entry.cast, sharding::CastKind::kGather);
    EXPECT_EQ(entry.group_bytes, 3 * 8 * 4 * 4);
    EXPECT_EQ(entry.reason, "because");
  });
}

}  // namespace
}  // namespace brigade::tensor
