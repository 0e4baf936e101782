// SPDX-License-Identifier: Apache-2.0
/// Where two checkpoints differ: tensors, counters, recipe.
#pragma once

#include <optional>
#include <string>

#include "parallel/base/result.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/tensor_source.h"

namespace brigade::inspect {

struct Comparison {
  bool equal = true;
  std::string text;  ///< in words and tables
};

/// Tensor by tensor. Without a tolerance the bits have to be equal, with one the values up to it;
/// names, types and shapes always.
/// Errors: the sources', and then there is no comparison.
/// Cost: reads all that both have; memory as compare() of tensor_diff.h says.
Result<Comparison> compare_tensors(checkpoint::TensorSource& a,
                                   checkpoint::TensorSource& b,
                                   std::optional<double> tolerance);

/// The counters that differ, which make two checkpoints unequal, and the keys of the recipe that
/// do, which do not.
Comparison compare_heads(const checkpoint::Manifest& a, const checkpoint::Manifest& b);

}  // namespace brigade::inspect
