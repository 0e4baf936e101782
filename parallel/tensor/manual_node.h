// SPDX-License-Identifier: Apache-2.0
/// The collectives of manual mode as autograd nodes: a move of bytes, and the move that transposes
/// it. Internal to the module; manual.h is what users see.
#pragma once

#include <string_view>

#include <ATen/core/Tensor.h>

#include "parallel/sharding/op_plan.h"
#include "parallel/tensor/manual.h"

namespace brigade::tensor {

/// A cast on local pieces of type `from`.
struct ManualMove {
  sharding::TensorType from;
  sharding::CastStep step;
};

/// Runs `forward` on x; its backward is `transpose`.
at::Tensor manual_move(Program& program,
                       std::string_view op,
                       const at::Tensor& x,
                       const ManualMove& forward,
                       const ManualMove& transpose);

/// The same without a backward: one that is asked for throws.
at::Tensor manual_extreme(Program& program,
                          std::string_view op,
                          const at::Tensor& x,
                          const ManualMove& forward);

/// `pairs` are legal for `axes`.
at::Tensor manual_permute(Program& program,
                          const mesh::AxisNames& axes,
                          const at::Tensor& x,
                          const Pairs& pairs);

}  // namespace brigade::tensor
