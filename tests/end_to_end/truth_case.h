// SPDX-License-Identifier: Apache-2.0
/// The cases of tests/data: weights, batches, and what another implementation made of them in five
/// steps.
///
///   expect_truth(kLlamaTiny, kAdamW, {.tp = 2}, {"parallelism.sequence_parallel=true"});
#pragma once

#include <cstdint>
#include <string>

#include <ATen/core/Tensor.h>

#include "tests/end_to_end/layouts.h"

namespace brigade::end_to_end {

struct TruthCase {
  const char* folder;
  const char* recipe;
  Settings model;
  int64_t vocabulary;
  /// What of a parameter is compared after AdamW; all of it when empty.
  at::Tensor (*after_adamw)(const std::string& name, const at::Tensor& value) = nullptr;
};

struct TruthRecipe {
  const char* name;
  const char* expected;
  const char* final_weights;
  Settings settings;
  double parameters;  ///< tolerance; AdamW magnifies rounding where gradients are near zero
  bool is_adamw;
};

extern const TruthRecipe kTruthSgd;
extern const TruthRecipe kTruthAdamW;

/// Five steps from the case's weights on its batches: losses and gradient norms within 1e-5, every
/// parameter within the recipe's tolerance.
void expect_truth(const TruthCase& truth,
                  const TruthRecipe& recipe,
                  const Degrees& degrees,
                  const Settings& settings);

}  // namespace brigade::end_to_end
