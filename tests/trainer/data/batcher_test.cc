// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/batcher.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "parallel/base/text.h"
#include "tests/trainer/data/masked_source.h"
#include "trainer/data/synthetic_bytes.h"

namespace brigade::data {
namespace {

constexpr int64_t kSeqLen = 4;
constexpr int64_t kSamples = 7;

struct Global {
  std::vector<int64_t> tokens;
  std::vector<int64_t> targets;
  std::vector<int64_t> trained_tokens;  // one per rank: all must agree
  std::vector<int64_t> microbatch_index;
};

/// One step as all data ranks read it, joined in rank order.
Global read_all(const TokenSource& source, int64_t consumed, BatchShape shape) {
  Global global;
  for (shape.data_rank = 0; shape.data_rank < shape.data_ranks; ++shape.data_rank) {
    const auto batcher = value_or_throw(Batcher::create(source, shape));
    const StepBatch step = value_or_throw(batcher.read(consumed));
    EXPECT_EQ(std::ssize(step.microbatches), batcher.microbatch_count());
    global.trained_tokens.push_back(step.trained_tokens);
    int64_t index = step.first_microbatch;
    for (const Microbatch& microbatch : step.microbatches) {
      EXPECT_EQ(std::ssize(microbatch.tokens), shape.microbatch * source.seq_len());
      global.tokens.insert(global.tokens.end(), microbatch.tokens.begin(), microbatch.tokens.end());
      global.targets.insert(
          global.targets.end(), microbatch.targets.begin(), microbatch.targets.end());
      global.microbatch_index.push_back(index++);
    }
  }
  return global;
}

TEST(Batcher, EveryMeshReadsTheSameGlobalBatch) {
  const MaskedSource source(kSeqLen, kSamples);
  for (const int64_t consumed : {0, 3, 24, 1000}) {
    const Global one = read_all(source, consumed, {.global_batch = 12, .microbatch = 12});
    for (const int64_t ranks : {1, 2, 3, 4}) {
      for (const int64_t microbatch : {1, 2, 3, 4, 6}) {
        if (12 % (ranks * microbatch) != 0) {
          continue;
        }
        SCOPED_TRACE(concat(ranks, " ranks, microbatch ", microbatch));
        const Global other = read_all(
            source, consumed, {.global_batch = 12, .data_ranks = ranks, .microbatch = microbatch});
        EXPECT_EQ(other.tokens, one.tokens);
        EXPECT_EQ(other.targets, one.targets);
        EXPECT_TRUE(std::is_sorted(other.microbatch_index.begin(), other.microbatch_index.end()));
        EXPECT_EQ(other.microbatch_index.back(), 12 / microbatch - 1);
      }
    }
  }
}

TEST(Batcher, EveryRankCountsTheTrainedTokensOfTheWholeBatch) {
  const MaskedSource source(kSeqLen, kSamples);
  const Global step = read_all(source, 5, {.global_batch = 12, .data_ranks = 3, .microbatch = 2});
  const auto masked = std::count(step.targets.begin(), step.targets.end(), kNotTrained);
  EXPECT_GT(masked, 0);
  EXPECT_EQ(step.trained_tokens, std::vector<int64_t>(3, 12 * kSeqLen - masked));
}

TEST(Batcher, StepsFollowEachOtherAcrossEpochs) {
  const MaskedSource source(kSeqLen, kSamples);
  const auto batcher =
      value_or_throw(Batcher::create(source, {.global_batch = 3, .microbatch = 3}));
  std::vector<int64_t> first_tokens;
  for (int64_t step = 0; step < 7; ++step) {
    const StepBatch batch = value_or_throw(batcher.read(step * 3));
    for (size_t row = 0; row < 3; ++row) {
      first_tokens.push_back(batch.microbatches[0].tokens[row * kSeqLen]);
    }
  }
  std::vector<int64_t> expected;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    for (int64_t i = 0; i < kSamples; ++i) {
      expected.push_back((epoch * 1000 + i * 10) % 64);
    }
  }
  EXPECT_EQ(first_tokens, expected);
}

TEST(Batcher, ResumesFromTheSamplesConsumedAlone) {
  const SyntheticBytes source(16, 9);
  const auto before = value_or_throw(Batcher::create(source, {.global_batch = 8, .microbatch = 2}));
  const auto after = value_or_throw(Batcher::create(source, {.global_batch = 8, .microbatch = 2}));
  value_or_throw(before.read(0));
  EXPECT_EQ(value_or_throw(before.read(8)).microbatches[1].tokens,
            value_or_throw(after.read(8)).microbatches[1].tokens);
}

TEST(Batcher, RefusesABatchWithNothingToTrain) {
  const MaskedSource source(kSeqLen, kSamples);  // sample 4 is masked as a whole
  const auto batcher = value_or_throw(Batcher::create(source, {}));
  const auto step = batcher.read(4 + 2 * kSamples);
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().code, ErrorCode::kData);
  EXPECT_EQ(step.error().text,
            "no token of samples 18 to 18 is trained: the whole global batch is masked");
}

TEST(Batcher, RefusesBatchesThatDoNotDivide) {
  const MaskedSource source(kSeqLen, kSamples);
  const auto batcher =
      Batcher::create(source, {.global_batch = 12, .data_ranks = 3, .microbatch = 3});
  ASSERT_FALSE(batcher);
  EXPECT_EQ(batcher.error().code, ErrorCode::kUsage);
  EXPECT_EQ(batcher.error().text,
            "global batch must be a multiple of data ranks x microbatch size; found 12 samples for "
            "3 x 3");
  EXPECT_FALSE(Batcher::create(source, {.global_batch = 0}));
}

}  // namespace
}  // namespace brigade::data
