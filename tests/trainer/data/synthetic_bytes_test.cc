// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/synthetic_bytes.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace brigade::data {
namespace {

using Row = std::vector<int64_t>;

Row tokens_of(const SyntheticBytes& source, int64_t epoch, int64_t index) {
  Row tokens(static_cast<size_t>(source.seq_len()));
  Row targets(tokens.size());
  value_or_throw(source.read(epoch, index, tokens, targets));
  return tokens;
}

/// splitmix64 from state 0 gives 0xe220a8397b1dcdaf first: bytes af and cd, (175 * 205) >> 8 = 140.
/// From state 1: 0x910a2dec89025cc1: bytes c1 and 5c, (193 * 92) >> 8 = 69.
TEST(SyntheticBytes, AreTheProductOfTwoRandomBytes) {
  EXPECT_EQ(tokens_of(SyntheticBytes(2, 0), 0, 0), (Row{140, 69}));
  EXPECT_EQ(tokens_of(SyntheticBytes(1, 1), 0, 0), (Row{69}));
}

TEST(SyntheticBytes, TargetIsTheTokenThatFollows) {
  const SyntheticBytes source(16, 3);
  Row tokens(16);
  Row targets(16);
  value_or_throw(source.read(0, 5, tokens, targets));
  EXPECT_EQ(Row(tokens.begin() + 1, tokens.end()), Row(targets.begin(), targets.end() - 1));
  EXPECT_EQ(targets.back(), tokens_of(source, 0, 6).front());
}

TEST(SyntheticBytes, EpochEndsWhereTheFirstSampleComesRound) {
  const SyntheticBytes source(300000, 3);
  const int64_t starts = SyntheticBytes::kBytes - 300001;
  std::set<int64_t> seen;
  for (int64_t i = 0; i < source.sample_count(); ++i) {
    EXPECT_TRUE(seen.insert(i * 300000 % starts).second);
    if (i > 3) {
      break;
    }
  }
  EXPECT_EQ(source.sample_count() * 300000 % starts, 0);
  EXPECT_EQ(tokens_of(source, 0, 1), tokens_of(source, 4, 1));
}

TEST(SyntheticBytes, SmallBytesAreMoreFrequent) {
  const SyntheticBytes source(100000, 1);
  int64_t small = 0;
  for (const int64_t token : tokens_of(source, 0, 0)) {
    small += token < 64 ? 1 : 0;
  }
  // P(xy < 1/4) = (1 + ln 4) / 4 = 0.597 for uniform x and y.
  EXPECT_NEAR(static_cast<double>(small) / 100000.0, 0.597, 0.02);
}

TEST(SyntheticBytes, SayWhatTheyAre) {
  EXPECT_EQ(SyntheticBytes(128, 42).description(),
            "synthetic data of seed 42: 1,048,576 bytes, 1,048,447 samples of seq_len 128");
  EXPECT_EQ(SyntheticBytes(128, 42).trained_tokens(2, 5), 384);
}

}  // namespace
}  // namespace brigade::data
