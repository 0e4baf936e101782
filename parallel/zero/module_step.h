// SPDX-License-Identifier: Apache-2.0
/// One step of a ShardedModule: what may be chosen, what is reported, and what all ranks agree on
/// before weights change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parallel/base/exact_sum.h"
#include "parallel/base/result.h"
#include "parallel/collective/communicator.h"
#include "parallel/zero/options.h"

namespace brigade::zero {

/// What a gradient that is not finite does to the step.
enum class NonFinite : uint8_t { kStop, kSkip };

struct StepOptions {
  double max_norm = 0.0;  ///< gradients are scaled down to it as torch's clip_grad_norm_; 0: never
  MissingGradient missing_gradient = MissingGradient::kError;
  NonFinite non_finite = NonFinite::kStop;
};

struct StepReport {
  double gradient_norm = 0.0;  ///< of all ranks' summed gradients, before clipping
  bool skipped = false;        ///< weights did not change
  std::string first_bad;       ///< why: the parameter and the rank
};

/// What one rank found out for itself. Parameters are counted as in named_parameters(), -1: none.
struct StepFindings {
  ExactSum squares;      ///< of this rank's gradient elements, each element once over all ranks
  int64_t moved = -1;    ///< first parameter that no longer lies in the set's memory
  int64_t missing = -1;  ///< first one without a gradient, where that is an error
  int64_t bad = -1;      ///< first one of which this rank's rows are not finite
};

/// The report that follows from all ranks' findings, the same on each. Internal to the module.
/// Collective.
/// Errors: kUsage for a moved and for a missing one, kNonFinite unless such steps are skipped; each
///         names the parameter and the rank. The communicator's.
Result<StepReport> agree_on_step(collective::Communicator& world,
                                 StepFindings findings,
                                 const std::vector<std::string>& names,
                                 NonFinite non_finite);

}  // namespace brigade::zero
