// SPDX-License-Identifier: Apache-2.0
/// TokenSource: training data as a function (law 6). What sample i of epoch e holds depends on the
/// source, its seed, e and i alone: no position, no worker, no state to save.
///
/// A sample is `seq_len` input tokens and, for each, the token that follows it as target, or
/// kNotTrained. The *position* of a sample is e * sample_count() + i: one integer says how far a
/// run has come.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "parallel/base/result.h"

namespace brigade::data {

/// The target of a place that is not trained.
inline constexpr int64_t kNotTrained = -1;

/// Thread safety: const calls, safe.
class TokenSource {
 public:
  virtual ~TokenSource() = default;

  /// Tokens lie in [0, vocabulary_size).
  virtual int64_t vocabulary_size() const = 0;
  virtual int64_t seq_len() const = 0;

  /// Samples of one epoch, at least 1.
  virtual int64_t sample_count() const = 0;

  /// Fills `tokens` and `targets`, [seq_len] each. Needs epoch >= 0, 0 <= index < sample_count().
  /// Errors: kIo or kData with the file's name.
  virtual Result<void> read(int64_t epoch,
                            int64_t index,
                            std::span<int64_t> tokens,
                            std::span<int64_t> targets) const = 0;

  /// How many targets are trained in the samples at positions [begin, end). Every rank evaluates it
  /// for the whole global batch (law 3), so it must be cheap, and equal to what read() gives.
  virtual int64_t trained_tokens(int64_t begin, int64_t end) const = 0;

  /// One line for the start of a run: what it is, how much of it, and what was left out.
  virtual std::string description() const = 0;
};

}  // namespace brigade::data
