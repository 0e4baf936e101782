// SPDX-License-Identifier: Apache-2.0
/// The lines that a run prints, as text: pure functions.
#pragma once

#include <optional>
#include <string>

#include "trainer/metrics/records.h"

namespace brigade::metrics {

/// `memory` is the most that tensors and optimizer states of a rank took in the step.
///
/// "step: 10/200  loss: 4.12345  grad_norm: 1.2345  lr: 8.00e-04  memory: 0.21GiB  tokens/s: 12,345
///  step ms: 82.1  left: 0:00:16"; with `colour`, the numbers that one watches stand out.
std::string step_line(const StepRecord& record,
                      int64_t total_steps,
                      double seconds_left,
                      bool colour);

/// "validation: step 10  loss: 4.1234  bits per byte: 5.9489  perplexity: 61.77"
std::string validation_line(const ValidationRecord& record);

/// "[########--------]  50%  10/20"
std::string bar(int64_t step, int64_t total_steps);

/// 3725.4 -> "1:02:05".
std::string duration_text(double seconds);

}  // namespace brigade::metrics
