// SPDX-License-Identifier: Apache-2.0
/// Options: how a ParameterSet stores, computes with and reduces its parameters.
#pragma once

#include <cstdint>

#include "parallel/base/dtype.h"
#include "parallel/zero/gradient_sum.h"
#include "parallel/zero/placement.h"

namespace brigade::zero {

/// What a parameter is that no backward pass of a step reached: a gradient of zeros, which weight
/// decay and momentum still move, or a mistake.
enum class MissingGradient : uint8_t { kZeros, kError };

struct Options {
  int stage = 0;  ///< 0 to 3
  AxisRules rules;
  AxisRules parts = {};  ///< of use by parts (placement.h)
  DataAxes data;
  GradientSum::Order accumulation = GradientSum::Order::kRunning;
  DType dtype = DType::kFloat32;  ///< of weights in forward and backward, and of their gathers; if
                                  ///< not fp32, an fp32 master of the updated rows is kept beside
  DType wire = DType::kFloat32;   ///< of gradients while they are reduced; sums add in fp32
  int64_t replicate_below =
      0;  ///< stage 3: parameters of fewer elements stay whole: fewer bytes in
          ///< small pieces, against their size on every data rank
  MissingGradient missing = MissingGradient::kZeros;
};

}  // namespace brigade::zero
