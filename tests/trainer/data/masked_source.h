// SPDX-License-Identifier: Apache-2.0
/// A source for tests whose samples are masked unevenly: sample i of epoch e holds tokens
/// e * 1000 + i * 10 + j mod 64, and its last i % (seq_len + 1) targets are not trained.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "trainer/data/token_source.h"

namespace brigade::data {

class MaskedSource final : public TokenSource {
 public:
  MaskedSource(int64_t seq_len, int64_t samples) : seq_len_(seq_len), samples_(samples) {}

  int64_t vocabulary_size() const override { return 64; }
  int64_t seq_len() const override { return seq_len_; }
  int64_t sample_count() const override { return samples_; }

  Result<void> read(int64_t epoch,
                    int64_t index,
                    std::span<int64_t> tokens,
                    std::span<int64_t> targets) const override {
    for (int64_t j = 0; j < seq_len_; ++j) {
      const auto at = static_cast<size_t>(j);
      tokens[at] = token(epoch, index, j);
      targets[at] = j < trained_of(index) ? token(epoch, index, j + 1) : kNotTrained;
    }
    return {};
  }

  int64_t trained_tokens(int64_t begin, int64_t end) const override {
    int64_t count = 0;
    for (int64_t position = begin; position < end; ++position) {
      count += trained_of(position % samples_);
    }
    return count;
  }

  std::string description() const override { return "masked test samples"; }

 private:
  static int64_t token(int64_t epoch, int64_t index, int64_t j) {
    return (epoch * 1000 + index * 10 + j) % 64;
  }
  int64_t trained_of(int64_t index) const { return seq_len_ - index % (seq_len_ + 1); }

  int64_t seq_len_;
  int64_t samples_;
};

}  // namespace brigade::data
