// SPDX-License-Identifier: Apache-2.0
/// Reductions: the gradients of units on their way from this rank's sums to reduced rows, one unit
/// after another while others compute. Internal to the module.
///
///   reductions.begin(unit);     // posts it, and moves those before it on by one phase
///   value_or_throw(reductions.finish());
///
/// A unit goes through at most three phases: its terms are scattered, its rows summed over
/// replicas and parts, at stage 0 the rows gathered again. The next phase of a unit is posted when
/// the next unit begins, so the order of collectives follows from the calls alone, never from what
/// arrived. At stages 2 and 3 the terms are freed with the first phase.
///
/// Several reductions of a unit in one step (after each microbatch) add up in fp32 rows; replicas
/// and parts are summed with the last.
#pragma once

#include <vector>

#include "parallel/base/result.h"
#include "parallel/zero/unit_casts.h"

namespace brigade::zero {

class Reductions {
 public:
  Reductions(tensor::Program& program, const Options& options)
      : casts_(program, options), options_(options) {}

  /// Takes the unit's accumulated gradients. Collective.
  /// Errors: kUsage naming a parameter without a gradient, if those are errors; the communicator's.
  Result<void> begin(Unit& unit);
  /// Ends all that began. Collective.
  Result<void> finish();
  /// Forgets what is under way, after a failure or when a step is dropped.
  void clear();

 private:
  Result<void> take_terms(Unit& unit) const;
  /// Waits for the unit's phase, and posts its next one.
  Result<void> advance(Unit& unit);
  void after_scatter(Unit& unit);
  void after_sums(Unit& unit);
  void after_gather(Unit& unit) const;

  UnitCasts casts_;
  const Options& options_;
  std::vector<Unit*> under_way_;
};

}  // namespace brigade::zero
