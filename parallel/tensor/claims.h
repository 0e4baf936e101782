// SPDX-License-Identifier: Apache-2.0
/// What local results claim to be pieces of, held against what all ranks hold. Internal to the
/// module; shard_map.h says what a claim is.
#pragma once

#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "parallel/sharding/tensor_type.h"
#include "parallel/tensor/program.h"

namespace brigade::tensor {

/// The global types of local results with these specs. `where`: "shard_map", for messages.
///
/// Collective: over the whole mesh, twelve words per result.
/// Errors:     kType, with the same text on all ranks: local shapes or dtypes that are pieces of no
///             tensor; and, with `compare`, copies that differ in a bit (by a 64-bit digest), with
///             the axis and the ranks. Thrown as Exception.
std::vector<sharding::TensorType> claimed_types(Program& program,
                                                const std::vector<at::Tensor>& results,
                                                const std::vector<sharding::PartitionSpec>& specs,
                                                bool compare,
                                                std::string_view where);

/// Refuses a tensor whose bits differ between ranks along one of `axes`.
/// Collective and errors as above; `what` names the tensor.
void expect_equal_over(Program& program,
                       const mesh::AxisNames& axes,
                       const at::Tensor& tensor,
                       std::string_view what);

}  // namespace brigade::tensor
