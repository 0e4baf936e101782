// SPDX-License-Identifier: Apache-2.0
/// What a run says about itself: one record per step, per validation, and one at the end.
#pragma once

#include <cstdint>
#include <string>

namespace brigade::metrics {

struct StepRecord {
  int64_t step = 0;      ///< from 1
  double loss = 0;       ///< mean over the trained tokens of the whole global batch
  double grad_norm = 0;  ///< before clipping
  double lr = 0;
  double tokens_per_s = 0;  ///< of the whole run, all ranks
  double step_ms = 0;
  int64_t memory_bytes = 0;  ///< largest resident set of a rank
  int64_t tensor_bytes = 0;  ///< most that a rank's tensors and optimizer states took in the step
  double time = 0;           ///< seconds since the run began
  bool skipped = false;      ///< the update was left out (training.on_nonfinite = "skip")
};

struct ValidationRecord {
  int64_t step = 0;
  double loss = 0;  ///< mean over the validation tokens, in nats
  double time = 0;

  double bits_per_byte() const;  ///< loss in bits; a token is a byte
  double perplexity() const;
};

struct Summary {
  int64_t steps = 0;
  int64_t tokens = 0;
  double seconds = 0;
  std::string next_command = "";  ///< what to run now; "" for nothing
  bool stopped_early = false;     ///< asked to stop, with a checkpoint saved
  std::string checkpoint = "";    ///< the last one; "" for none
};

/// JSON in one line. Numbers read back to the same bits; NaN and infinity are null.
std::string to_json(const StepRecord& record);
std::string to_json(const ValidationRecord& record);

}  // namespace brigade::metrics
