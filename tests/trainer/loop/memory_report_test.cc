// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/memory_report.h"

#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/rank_threads.h"

namespace brigade::loop {
namespace {

using tensor::Category;
using tensor::CategoryScope;

at::Tensor bytes(int64_t count) {
  return at::empty({count}, at::kByte);
}

TEST(MemoryReport, GivesTheMostOfEachStepAndOfAll) {
  testing::run_ranks(1, [](collective::World& world) {
    MemoryReport memory(world);
    bytes(5000);  // while the trainer is built
    const CategoryScope parameters(Category::kParameters);
    const at::Tensor weight = bytes(100);
    memory.hold(Category::kOptimizerStates, 200);
    memory.begin_steps();
    {
      const CategoryScope activations(Category::kActivations);
      bytes(1000);
    }
    EXPECT_EQ(memory.end_step(), 1300);
    EXPECT_EQ(memory.end_step(), 300);  // what stays
    EXPECT_EQ(memory.measured().total, 1300);
    EXPECT_EQ(memory.measured().peak[Category::kParameters], 100);
    EXPECT_EQ(memory.measured().peak[Category::kOptimizerStates], 200);
    EXPECT_EQ(memory.measured().peak[Category::kActivations], 1000);
  });
}

TEST(MemoryReport, GathersEveryRanksNumbersOnEveryRank) {
  tensor::install_memory_meter();
  testing::run_ranks(3, [](collective::World& world) {
    MemoryReport memory(world);
    memory.begin_steps();
    bytes(1000 * (world.rank() + 1));
    memory.end_step();
    const std::vector<MeasuredMemory> all = value_or_throw(memory.gather());
    ASSERT_EQ(all.size(), 3U);
    for (size_t rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(all[rank].peak[Category::kActivations], 1000 * static_cast<int64_t>(rank + 1));
      EXPECT_EQ(all[rank].total,
                all[rank].peak[Category::kActivations] + all[rank].peak[Category::kCommunication]);
    }
  });
}

TEST(MemoryReport, CountsWhatMessagesHeld) {
  testing::run_ranks(2, [](collective::World& world) {
    MemoryReport memory(world);
    memory.begin_steps();
    const std::unique_ptr<collective::Communicator> both = world.everyone("both");
    std::vector<float> values(100'000, 1.0F);
    ASSERT_TRUE(both->all_reduce({collective::bytes_of(std::span(values))},
                                 DType::kFloat32,
                                 collective::ReduceOp::kSum)
                    .wait());
    memory.end_step();
    const std::vector<MeasuredMemory> all = value_or_throw(memory.gather());
    EXPECT_GT(all[0].peak[Category::kCommunication], 0);
    EXPECT_GE(all[0].total, all[0].peak[Category::kCommunication]);
  });
}

}  // namespace
}  // namespace brigade::loop
