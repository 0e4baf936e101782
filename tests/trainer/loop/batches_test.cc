// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/batches.h"

#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/trainer/data/masked_source.h"
#include "tests/trainer/loop/recipe.h"

namespace brigade::loop {
namespace {

/// The first token of each row of each microbatch, and whether any of the row is trained.
struct Row {
  int64_t first_token;
  bool trained;

  bool operator==(const Row&) const = default;
};

std::vector<Row> rows_of(const executor::Batch& batch) {
  std::vector<Row> rows;
  for (const executor::Microbatch& microbatch : batch.microbatches) {
    for (int64_t i = 0; i < microbatch.tokens.size(0); ++i) {
      rows.push_back({microbatch.tokens[i][0].item<int64_t>(),
                      microbatch.targets[i].ne(data::kNotTrained).any().item<bool>()});
    }
  }
  return rows;
}

TEST(Batches, BecomeTensorsRowByRow) {
  const data::StepBatch step{{{{1, 2, 3, 4, 5, 6}, {2, 3, -1, 5, 6, -1}}}, 0, 4};
  const executor::Batch batch = to_tensors(step, 2, 5);
  ASSERT_EQ(batch.microbatches.size(), 1U);
  EXPECT_EQ(batch.trained_tokens, 4);
  const at::Tensor tokens = at::tensor({1, 2, 3, 4, 5, 6}, at::kLong).view({2, 3});
  const at::Tensor targets = at::tensor({2, 3, -1, 5, 6, -1}, at::kLong).view({2, 3});
  EXPECT_TRUE(at::equal(batch.microbatches[0].tokens, tokens));
  EXPECT_TRUE(at::equal(batch.microbatches[0].targets, targets));
}

TEST(Batches, KnowTheirPlaceInTheGlobalBatch) {
  // A data rank whose first microbatch is the third of the step; two rows each.
  const data::StepBatch step{{{{1, 2}, {2, 3}}, {{3, 4}, {4, 5}}}, 3, 4};
  const executor::Batch batch = to_tensors(step, 2, 5);
  ASSERT_EQ(batch.microbatches.size(), 2U);
  ASSERT_TRUE(batch.microbatches[1].training);
  EXPECT_EQ(batch.microbatches[0].training->first_row, 6);
  EXPECT_EQ(batch.microbatches[1].training->first_row, 8);
  EXPECT_EQ(batch.microbatches[1].training->step, 5);
}

TEST(Batches, OfValidationTakeEachRanksShareInOrder) {
  const auto source = counting_tokens(1000, 20);
  const executor::Batch batch = value_or_throw(validation_batch(
      *source, 1, {.global_batch = 8, .data_ranks = 2, .data_rank = 1, .microbatch = 2}));
  EXPECT_EQ(batch.trained_tokens, 8 * 16);
  ASSERT_EQ(batch.microbatches.size(), 2U);
  EXPECT_FALSE(batch.microbatches[0].training);
  // Batch 1 is the samples 8 to 15; rank 1 of 2 has 12 to 15.
  EXPECT_EQ(rows_of(batch),
            (std::vector<Row>{{12 * 31, true}, {13 * 31, true}, {14 * 31, true}, {15 * 31, true}}));
}

TEST(Batches, OfValidationFillTheLastOneWithRowsThatAreNotTrained) {
  const auto source = counting_tokens(1000, 10);
  const executor::Batch first = value_or_throw(validation_batch(
      *source, 1, {.global_batch = 8, .data_ranks = 2, .data_rank = 0, .microbatch = 2}));
  EXPECT_EQ(first.trained_tokens, 2 * 16);
  EXPECT_EQ(rows_of(first),
            (std::vector<Row>{{8 * 31, true}, {9 * 31, true}, {0, false}, {0, false}}));
  const executor::Batch second = value_or_throw(validation_batch(
      *source, 1, {.global_batch = 8, .data_ranks = 2, .data_rank = 1, .microbatch = 2}));
  EXPECT_EQ(second.trained_tokens, 2 * 16);
  EXPECT_EQ(rows_of(second), (std::vector<Row>{{0, false}, {0, false}, {0, false}, {0, false}}));
}

TEST(Batches, OfValidationCountTheTokensThatTheSourceTrains) {
  const data::MaskedSource source(4, 10);  // sample i trains 4 - i % 5 targets
  const executor::Batch batch = value_or_throw(validation_batch(
      source, 0, {.global_batch = 4, .data_ranks = 1, .data_rank = 0, .microbatch = 4}));
  EXPECT_EQ(batch.trained_tokens, 4 + 3 + 2 + 1);
  EXPECT_EQ(batch.microbatches[0].targets.ne(data::kNotTrained).sum().item<int64_t>(), 10);
}

}  // namespace
}  // namespace brigade::loop
