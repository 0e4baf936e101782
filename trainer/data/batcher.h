// SPDX-License-Identifier: Apache-2.0
/// Batcher: which samples this data rank reads for a step, given how many all ranks have consumed.
///
///   auto batcher = Batcher::create(source, {.global_batch = 8, .data_ranks = 2, .data_rank = 1,
///                                           .microbatch = 2});
///   auto step = batcher->read(consumed);   // positions consumed + 4 ... consumed + 7
///
/// The global batch is the positions [consumed, consumed + global_batch). Data rank d of D owns the
/// contiguous part [d*G/D, (d+1)*G/D) of it, and its microbatch j the next `microbatch` of those;
/// so the global microbatch index is d * microbatches + j, and any mesh sees the same global batch.
/// Epochs follow each other without a gap: a batch may span two.
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/data/token_source.h"

namespace brigade::data {

struct BatchShape {
  int64_t global_batch = 1;  ///< samples of a step, all ranks together
  int64_t data_ranks = 1;
  int64_t data_rank = 0;
  int64_t microbatch = 1;  ///< samples of one forward
};

struct Microbatch {
  std::vector<int64_t> tokens;   ///< [microbatch, seq_len], row-major
  std::vector<int64_t> targets;  ///< same shape; kNotTrained where nothing is trained
};

struct StepBatch {
  std::vector<Microbatch> microbatches;
  int64_t first_microbatch = 0;  ///< global index of microbatches[0] in the step
  int64_t trained_tokens = 0;    ///< of the whole global batch: the divisor of the loss (law 3)
};

/// Thread safety: const calls, safe.
class Batcher {
 public:
  /// Borrows `source`, which must outlive the Batcher.
  /// Errors: kUsage when the global batch is not a whole number of microbatches on every data rank;
  ///         the text is the equation.
  static Result<Batcher> create(const TokenSource& source, BatchShape shape);

  /// Microbatches of this rank in one step.
  int64_t microbatch_count() const;

  /// The step that begins after `samples_consumed` (>= 0) samples.
  /// Errors: the source's; kData when no target of the whole global batch is trained - on every
  ///         rank alike.
  Result<StepBatch> read(int64_t samples_consumed) const;

 private:
  Batcher(const TokenSource& source, BatchShape shape) : source_(&source), shape_(shape) {}
  Result<Microbatch> read_microbatch(int64_t first_position) const;

  const TokenSource* source_;
  BatchShape shape_;
};

}  // namespace brigade::data
