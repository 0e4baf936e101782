// SPDX-License-Identifier: Apache-2.0
/// from_callback: a sharded tensor out of pieces that a function makes or reads.
///
///   ShardedTensor x = from_callback(program, type, [&](const sharding::Box& box) {
///     return read_rows(file, box.dims[0].begin, box.dims[0].end);
///   });
///
/// No rank ever holds the whole.
#pragma once

#include <functional>

#include <ATen/core/Tensor.h>

#include "parallel/sharding/interval.h"
#include "parallel/tensor/program.h"
#include "parallel/tensor/sharded_tensor.h"

namespace brigade::tensor {

/// `piece` gets this rank's box of the global shape and returns its elements.
///
/// Collective: never.
/// Errors:     kType for a piece of another shape or dtype (expected and found in the text), for a
///             spec that is illegal on the mesh, and for unreduced axes: which term of a sum a box
///             is, no box can say. Thrown as Exception.
ShardedTensor from_callback(Program& program,
                            const sharding::TensorType& type,
                            const std::function<at::Tensor(const sharding::Box&)>& piece);

}  // namespace brigade::tensor
