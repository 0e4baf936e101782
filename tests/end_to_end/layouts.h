// SPDX-License-Identifier: Apache-2.0
/// The degrees of a mesh as a Trial asks for them, and the choices that no result may depend on.
///
///   for (const Way& way : ways({.pp = 2})) {
///     expect_same_curve(train(trial_of({.pp = 2}, model + way.settings), source, 5), one);
///   }
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "tests/end_to_end/harness.h"

namespace brigade::end_to_end {

using Settings = std::vector<std::string>;

Settings operator+(Settings left, const Settings& right);

/// What law 1 is held to: plain gradient descent, and AdamW with clipping.
struct Recipe {
  std::string name;
  Settings settings;
  double parameters;  ///< tolerance; AdamW magnifies rounding where gradients are near zero
};
extern const Recipe kSgdRecipe;
extern const Recipe kAdamWRecipe;

struct Degrees {
  int64_t replicate = 1;
  int64_t shard = 1;
  int64_t tp = 1;
  int64_t pp = 1;

  int64_t data_ranks() const { return replicate * shard; }
  int64_t ranks() const { return data_ranks() * tp * pp; }
  /// "dp2_tp2", "replicate2_shard2"; "one" for a single rank.
  std::string name() const;
  Settings settings() const;
};

/// For the messages of parameterised tests.
void PrintTo(const Degrees& degrees, std::ostream* out);

/// A trial of `settings` on the mesh, from seed. The products are oneDNN's: nothing is measured.
Trial trial_of(const Degrees& degrees, const Settings& settings = {});

/// Settings that train the same curve.
struct Way {
  std::string name;
  Settings settings;
};

/// Every ZeRO stage, or 0 and 3 where no ranks share; with more than one stage of the model each
/// under GPipe and 1F1B.
std::vector<Way> ways(const Degrees& degrees);

/// ZeRO stages 0 to 3, gradients reduced once a step and after each microbatch, weights gathered
/// with and without prefetch and kept through the step; each under every schedule. With
/// debug.deterministic all reduce once a step.
std::vector<Way> zero_ways(const Degrees& degrees, bool deterministic = false);

}  // namespace brigade::end_to_end
