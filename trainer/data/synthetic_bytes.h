// SPDX-License-Identifier: Apache-2.0
/// SyntheticBytes: a deterministic text for benchmarks and tests that need no file, vocabulary 256.
///
/// Byte i of 2^20 is (a * b) >> 8, where a and b are the lowest and the second byte of
/// splitmix64(seed + i) (Steele, Lea and Flood, OOPSLA 2014): small bytes are frequent, so there is
/// something to learn. Sample j begins at byte (j * seq_len) mod (2^20 - seq_len - 1), in order; an
/// epoch is the samples until the first byte comes round, so epochs are equal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trainer/data/token_source.h"

namespace brigade::data {

class SyntheticBytes final : public TokenSource {
 public:
  static constexpr int64_t kBytes = int64_t{1} << 20;

  /// Needs 1 <= seq_len < kBytes - 1.
  SyntheticBytes(int64_t seq_len, uint64_t seed);

  int64_t vocabulary_size() const override { return 256; }
  int64_t seq_len() const override { return seq_len_; }
  int64_t sample_count() const override;
  Result<void> read(int64_t epoch,
                    int64_t index,
                    std::span<int64_t> tokens,
                    std::span<int64_t> targets) const override;
  int64_t trained_tokens(int64_t begin, int64_t end) const override;
  std::string description() const override;

 private:
  int64_t seq_len_;
  uint64_t seed_;
  std::vector<uint8_t> bytes_;
};

}  // namespace brigade::data
