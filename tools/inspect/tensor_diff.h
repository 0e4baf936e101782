// SPDX-License-Identifier: Apache-2.0
/// Where two tensors of one type and shape differ.
#pragma once

#include <cstdint>
#include <string>

#include "parallel/base/result.h"
#include "parallel/sharding/interval.h"
#include "trainer/checkpoint/tensor_source.h"

namespace brigade::inspect {

struct TensorDiff {
  bool equal_bits = true;
  int64_t differing = 0;     ///< elements whose bits differ
  bool has_values = true;    ///< whether the type is one of those that are compared as numbers
  double largest = 0.0;      ///< of the differences |a - b|; infinite where NaN or infinity meets
                             ///< something else
  sharding::Shape worst_at;  ///< index of the element with the largest, the first of several
  double worst_a = 0.0;
  double worst_b = 0.0;
};

/// Compares tensor `name`, which both sources have in the same type and shape. +0 and -0, and NaNs
/// of different bits, differ in bits and not in value.
/// Errors: the sources'; kData for a type of less than a byte.
/// Memory: twice 16 MiB, or a few rows of the first dim where those are larger.
Result<TensorDiff> compare(checkpoint::TensorSource& a,
                           checkpoint::TensorSource& b,
                           const std::string& name);

}  // namespace brigade::inspect
