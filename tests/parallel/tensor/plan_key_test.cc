// SPDX-License-Identifier: Apache-2.0
#include "parallel/tensor/plan_key.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/parallel/tensor/op_check.h"

namespace brigade::tensor {
namespace {

using sharding::PartitionSpec;

TEST(PlanKey, IsEqualForEqualFieldsAndDiffersInEveryOne) {
  const std::optional<PartitionSpec> none;
  const std::optional<PartitionSpec> rows = PartitionSpec({{"x"}});
  const std::vector<PlanKey> keys = {PlanKey("einsum", "ab,bc->ac", none),
                                     PlanKey("einsum", "ab,bc->ca", none),
                                     PlanKey("einsum", "ab,bc->ac", rows),
                                     PlanKey("einsum2", "ab,bc->ac", none),
                                     PlanKey("einsum", "ab,bc->acd", none),
                                     PlanKey("einsum", 1),
                                     PlanKey("einsum", 2),
                                     PlanKey("einsum", 1.0)};
  for (size_t i = 0; i < keys.size(); ++i) {
    for (size_t j = 0; j < keys.size(); ++j) {
      EXPECT_EQ(keys[i] == keys[j], i == j) << i << ' ' << j;
    }
  }
  const PlanKey again("einsum", std::string("ab,bc->ac"), none);
  EXPECT_TRUE(again == keys[0]);
  EXPECT_EQ(again.hash(), keys[0].hash());
}

TEST(PlanKey, TellsListsFromTheirNeighbours) {
  const std::vector<int64_t> one = {1};
  const std::vector<int64_t> two = {1, 2};
  EXPECT_FALSE(PlanKey("op", one, two) == PlanKey("op", two, one));
  EXPECT_FALSE(PlanKey("op", "ab", "c") == PlanKey("op", "a", "bc"));
}

TEST(PlanKey, TakesOperandsByTheirTypeInOrder) {
  on_mesh({{"x", 1}}, [](Program& program) {
    const ShardedTensor a = place(program, numbers({2, 3}, 0), PartitionSpec({{"x"}}));
    const ShardedTensor same = place(program, numbers({2, 3}, 1), PartitionSpec({{"x"}}));
    const ShardedTensor b = place(program, numbers({2, 3}, 0), PartitionSpec());
    EXPECT_TRUE(PlanKey("add", a, b) == PlanKey("add", same, b));
    EXPECT_FALSE(PlanKey("add", a, b) == PlanKey("add", b, a));
    const PlanKey key("add", a, b);
    ASSERT_EQ(key.operands().size(), 2U);
    EXPECT_EQ(key.operands()[1], &b.record());
  });
}

}  // namespace
}  // namespace brigade::tensor
