// SPDX-License-Identifier: Apache-2.0
/// What all ranks of the world agree on in a step: the loss, the gradient norm, and which value was
/// not finite (law 8). Internal to the module.
///
/// Sums travel as the integer limbs of exact sums, in one all-reduce, so neither the mesh nor the
/// order of ranks can change them.
#pragma once

#include <cstdint>
#include <string>

#include "parallel/base/exact_sum.h"
#include "parallel/collective/communicator.h"
#include "parallel/executor/executor.h"

namespace brigade::executor {

/// One rank's terms.
struct LocalTerms {
  ExactSum loss;     ///< of this rank's trained tokens, each token once over all ranks
  ExactSum squares;  ///< of this rank's gradient elements, each element once over all ranks
  /// "gradient of model.norm.weight", the first that is not finite here; empty if all are.
  std::string bad_gradient;
  int64_t bad_position = 0;  ///< of that gradient in the model: orders the ranks' findings
};

/// Collective over `world`; the same result on every rank. Of several values that are not finite
/// the loss is named before gradients, then the first in the model, then the lowest rank's.
/// Errors: the communicator's, thrown as Exception.
StepResult agree(collective::Communicator& world, LocalTerms terms, int64_t trained_tokens);

/// The mean loss alone. Collective over `world`.
double agree_on_loss(collective::Communicator& world, ExactSum loss, int64_t trained_tokens);

}  // namespace brigade::executor
