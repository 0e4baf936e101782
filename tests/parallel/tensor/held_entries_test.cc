// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/held_entries.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;

TEST(HeldEntries, LocalizesIndicesOfTheRanksInterval) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const ShardedTensor table = place(program, numbers({5, 2}, 0), PartitionSpec({{"x"}}));
    const HeldEntries held(program, {}, table, 0);  // [0, 2) and [2, 5)
    const LocalIndices local = held.localize("test", at::tensor({4, 0, 2}, at::kLong));
    const bool first = program.rank() == 0;
    EXPECT_TRUE(
        at::equal(local.indices,
                  first ? at::tensor({0, 0, 0}, at::kLong) : at::tensor({2, 0, 0}, at::kLong)));
    EXPECT_TRUE(at::equal(
        local.outside,
        first ? at::tensor({1, 0, 1}).to(at::kBool) : at::tensor({0, 1, 0}).to(at::kBool)));
  });
}

TEST(HeldEntries, PassesIndicesOfAWholeDim) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const ShardedTensor table = place(program, numbers({5, 4}, 0), PartitionSpec({{}, {"x"}}));
    const LocalIndices local =
        HeldEntries(program, {}, table, 0).localize("test", at::tensor({4, 0}, at::kLong));
    EXPECT_TRUE(at::equal(local.indices, at::tensor({4, 0}, at::kLong)));
    EXPECT_FALSE(local.outside.defined());
  });
}

TEST(HeldEntries, GivesAPieceWithoutEntriesOneOfZeros) {
  on_mesh({{"x", 2}}, [](Program& program) {
    const ShardedTensor table = place(program, numbers({1, 2}, 1), PartitionSpec({{"x"}}));
    const at::Tensor piece = HeldEntries(program, {}, table, 0).with_an_entry(table.local(), 0);
    EXPECT_EQ(piece.size(0), 1);
    EXPECT_EQ(piece.any().item<bool>(), program.rank() == 1);
  });
}

TEST(CheckIndices, NamesTheOpAndTheRange) {
  EXPECT_NO_THROW(check_indices("take", at::empty({0}, at::kLong), 0));
  try {
    check_indices("take", at::tensor({0, 3}, at::kLong), 3);
    FAIL() << "no error";
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().code, ErrorCode::kData);
    EXPECT_EQ(exception.error().text, "take: expected indices in [0, 3), found from 0 to 3");
  }
}

}  // namespace
}  // namespace brigade::tensor
